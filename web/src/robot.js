// The robot as a figure of its frames: bars between joints, and its tool with a beam.
import {
  ConeGeometry, CylinderGeometry, Group, Matrix4, Mesh, MeshStandardMaterial, Quaternion,
  SphereGeometry, Vector3,
} from "three";
import { colour, series } from "./data.js";

const UP = new Vector3(0, 1, 0);

function bar(from, to, radius, material) {
  const way = to.clone().sub(from);
  const length = way.length();
  if (length < 1e-6) return null;
  const mesh = new Mesh(new CylinderGeometry(radius, radius, length, 20), material);
  mesh.position.copy(from).addScaledVector(way, 0.5);
  mesh.quaternion.setFromUnitVectors(UP, way.normalize());
  return mesh;
}

function ball(at, radius, material) {
  const mesh = new Mesh(new SphereGeometry(radius, 20, 14), material);
  mesh.position.copy(at);
  return mesh;
}

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

function tool({ flange, tip, beam }, size, material) {
  const [a, b] = [new Vector3(...flange), new Vector3(...tip)];
  const way = new Vector3(...beam);
  const head = b.clone().addScaledVector(way, -0.1 * size);
  const light = new MeshStandardMaterial({
    color: colour("beam"), transparent: true, opacity: 0.6,
  });
  const ray = new Mesh(new ConeGeometry(size * 0.012, 0.1 * size, 16), light);
  ray.position.copy(head).lerp(b, 0.5);
  ray.quaternion.setFromUnitVectors(UP, way);
  const parts = [bar(a, head, size * 0.014, material), ball(a, size * 0.018, material), ray];
  return parts.filter(Boolean);
}

export function robot(model) {
  const { size } = model;
  const paint = new MeshStandardMaterial({
    color: colour("arm"), roughness: 0.55, metalness: 0.1,
  });
  const paints = { arm: paint };
  const painted = (name) => {
    paints[name] ||= new MeshStandardMaterial({ color: colour(name), roughness: 0.4 });
    return paints[name];
  };
  const dark = new MeshStandardMaterial({ color: colour("joint"), roughness: 0.6 });
  const root = new Group();
  const frames = framesOf(model.joints, root);
  const inside = (i) => (i < 0 ? root : frames[i].moved);
  const thick = (i) =>
    model.joints[i]?.width || size * (0.055 - 0.033 * Math.min(1, (i + 1) / frames.length));
  for (const { body, from, to, tone = "arm" } of model.bars) {
    const mesh = bar(new Vector3(...from), new Vector3(...to), thick(body), painted(tone));
    if (mesh) inside(body).add(mesh);
  }
  frames.forEach(({ moved, axis }, i) => {
    const half = axis.clone().multiplyScalar(thick(i) * 1.5);
    moved.add(bar(half.clone().negate(), half, thick(i) * 1.25, dark));
  });
  if (model.tool) inside(model.tool.body).add(...tool(model.tool, size, dark));

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
