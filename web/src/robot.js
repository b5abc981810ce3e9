// The robot as its frames: turning one turns what it carries.
import { Group, Matrix4, Quaternion, Vector3 } from "three";
import { dress } from "./bodies.js";
import { series } from "./data.js";

// Frames of the joints, each a group inside of its parent's: turning one turns what hangs on it.
function framesOf(joints, root) {
  const frames = joints.map(() => ({ moved: new Group() }));
  joints.forEach((joint, i) => {
    const fixed = new Group();
    fixed.applyMatrix4(new Matrix4().fromArray(joint.origin));
    fixed.add(frames[i].moved);
    (joint.parent < 0 ? root : frames[joint.parent].moved).add(fixed);
    frames[i].axis = new Vector3(...joint.axis);
    frames[i].slides = joint.slides;
  });
  return frames;
}

export function robot(model) {
  const root = new Group();
  const frames = framesOf(model.joints, root);
  dress(model, (i) => (i < 0 ? root : frames[i].moved));

  const spin = new Quaternion();
  const pose = (index) => {
    frames.forEach(({ moved, axis, slides }, j) => {
      const q = series(`q${j + 1}`)[index];
      if (slides) moved.position.copy(axis).multiplyScalar(q);
      else moved.quaternion.copy(spin.setFromAxisAngle(axis, q));
    });
  };
  return { root, pose };
}
