/PROG  TWO_SEAMS
/ATTR
OWNER		= MNEDITOR;
DEFAULT_GROUP	= 1,*,*,*,*;
/MN
   1:  UFRAME_NUM=1 ;
   2:  UTOOL_NUM=1 ;
   3:J P[1:above] 30% FINE    ;
   4:L P[2:start] 100mm/sec FINE    ;
   5:  Arc Start[1] ;
   6:L P[3] 100mm/sec CR5    ;
   7:L P[4] 100mm/sec FINE    ;
   8:  Arc End[1] ;
   9:L P[5] 100mm/sec FINE    ;
  10:  WAIT    .10(sec) ;
  11:J P[6] 30% FINE    ;
  12:L P[7] 100mm/sec FINE    ;
  13:  Arc Start[1] ;
  14:C P[8]    
    :  P[9] 100mm/sec FINE    ;
  15:  Arc End[1] ;
/POS
P[1]{
   GP1:
	UF : 1, UT : 1,		CONFIG : 'N U T, 0, 0, 0',
	X =  -60.000  mm,	Y =    0.000  mm,	Z =   30.000  mm,
	W =  180.000 deg,	P =    0.000 deg,	R =  225.000 deg
};
P[2]{
   GP1:
	UF : 1, UT : 1,		CONFIG : 'N U T, 0, 0, 0',
	X =  -60.000  mm,	Y =    0.000  mm,	Z =    0.000  mm,
	W =  180.000 deg,	P =    0.000 deg,	R =  225.000 deg
};
P[3]{
   GP1:
	UF : 1, UT : 1,		CONFIG : 'N U T, 0, 0, 0',
	X =    0.000  mm,	Y =    0.000  mm,	Z =    0.000  mm,
	W =  180.000 deg,	P =    0.000 deg,	R =  225.000 deg
};
P[4]{
   GP1:
	UF : 1, UT : 1,		CONFIG : 'N U T, 0, 0, 0',
	X =    0.000  mm,	Y =  -60.000  mm,	Z =    0.000  mm,
	W =  180.000 deg,	P =    0.000 deg,	R =  225.000 deg
};
P[5]{
   GP1:
	UF : 1, UT : 1,		CONFIG : 'N U T, 0, 0, 0',
	X =    0.000  mm,	Y =  -60.000  mm,	Z =   30.000  mm,
	W =  180.000 deg,	P =    0.000 deg,	R =  225.000 deg
};
P[6]{
   GP1:
	UF : 1, UT : 1,		CONFIG : 'N U T, 0, 0, 0',
	X =   50.000  mm,	Y =  -60.000  mm,	Z =   30.000  mm,
	W =  180.000 deg,	P =    0.000 deg,	R =  225.000 deg
};
P[7]{
   GP1:
	UF : 1, UT : 1,		CONFIG : 'N U T, 0, 0, 0',
	X =   50.000  mm,	Y =  -60.000  mm,	Z =    0.000  mm,
	W =  180.000 deg,	P =    0.000 deg,	R =  225.000 deg
};
P[8]{
   GP1:
	UF : 1, UT : 1,		CONFIG : 'N U T, 0, 0, 0',
	X =   65.000  mm,	Y =  -30.000  mm,	Z =    0.000  mm,
	W =  180.000 deg,	P =    0.000 deg,	R =  225.000 deg
};
P[9]{
   GP1:
	UF : 1, UT : 1,		CONFIG : 'N U T, 0, 0, 0',
	X =   50.000  mm,	Y =    0.000  mm,	Z =    0.000  mm,
	W =  180.000 deg,	P =    0.000 deg,	R =  225.000 deg
};
/END
