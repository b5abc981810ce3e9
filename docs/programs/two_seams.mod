MODULE TwoSeams
  PERS wobjdata wPart:=[FALSE,TRUE,"",[[575,0,50],[0.9238795325,0,0,-0.3826834324]],[[0,0,0],[1,0,0,0]]];
  CONST robtarget pStart:=[[-60,0,0],[0,-0.3826834324,0.9238795325,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]];
  CONST robtarget pArc:=[[50,-60,0],[0,-0.3826834324,0.9238795325,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]];

  PROC main()
    MoveJ Offs(pStart,0,0,30),v200,fine,tLaser\WObj:=wPart;
    MoveL pStart,v100,fine,tLaser\WObj:=wPart;
    MoveL Offs(pStart,60,0,0),v100,z5,tLaser\WObj:=wPart;
    MoveL Offs(pStart,60,-60,0),v100,fine,tLaser\WObj:=wPart;
    MoveL Offs(pStart,60,-60,30),v100,fine,tLaser\WObj:=wPart;
    WaitTime 0.1;
    MoveJ Offs(pArc,0,0,30),v200,fine,tLaser\WObj:=wPart;
    MoveL pArc,v100,fine,tLaser\WObj:=wPart;
    MoveC Offs(pArc,15,30,0),Offs(pArc,0,60,0),v100,fine,tLaser\WObj:=wPart;
  ENDPROC
ENDMODULE
