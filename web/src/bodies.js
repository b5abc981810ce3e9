// What a robot is dressed in: reduced meshes of its links where it has some, else capsules along
// its axes with a housing at each joint, a foot on the floor, and the tool with its beam.
import {
  BufferAttribute, BufferGeometry, ConeGeometry, LatheGeometry, Matrix4, Mesh,
  MeshStandardMaterial, Vector2, Vector3,
} from "three";
import { bytes, colour } from "./data.js";

const UP = new Vector3(0, 1, 0);
const ROUND = 6; // points of a quarter of a circle
const SIDES = 28;
const TAPER = 0.74; // of a link's end
const THICK = [0.07, 0.024]; // radius at the foot and at the last joint, in sizes of the robot
const FAR = 2.5; // how far an elbow may lie, in lengths of its link
const HOUSING = { radius: 1.25, half: 1.3, bevel: 0.2 }; // in radii of the link
const CREASE = 0.5; // angle [rad] beyond which an edge of a mesh stays sharp

function turned(profile, at, way, material) {
  const mesh = new Mesh(new LatheGeometry(profile, SIDES), material);
  mesh.position.copy(at);
  mesh.quaternion.setFromUnitVectors(UP, way);
  return mesh;
}

function arc(centre, radius, from, to) {
  const points = [];
  for (let k = 0; k <= ROUND; k++) {
    const angle = from + ((to - from) * k) / ROUND;
    points.push(new Vector2(radius * Math.cos(angle), centre + radius * Math.sin(angle)));
  }
  return points;
}

// A rod with round ends whose radius may change along it; an open one starts on the foot.
function capsule(from, to, [first, last], material, open = false) {
  const way = to.clone().sub(from);
  const length = way.length();
  const start = open ? [new Vector2(first, 0)] : arc(0, first, -Math.PI / 2, 0);
  const profile = [...start, ...arc(length, last, 0, Math.PI / 2)];
  return turned(profile, from, way.normalize(), material);
}

// A drum with bevelled edges about an axis.
function drum(at, axis, radius, half, bevel, material) {
  const profile = [
    [0, -half], [radius - bevel, -half], [radius, bevel - half],
    [radius, half - bevel], [radius - bevel, half], [0, half],
  ].map(([x, y]) => new Vector2(x, y));
  const mesh = turned(profile, at, axis, material);
  mesh.geometry = flat(mesh.geometry);
  return mesh;
}

// Flat faces in place of normals smoothed over the edges of a bevel.
function flat(geometry) {
  const sharp = geometry.toNonIndexed();
  sharp.computeVertexNormals();
  return sharp;
}

// Corners of a link between two axes: along its own, across, along the next one, as the
// parameters of Denavit and Hartenberg go; straight where that would lead far away.
function corners(to, own, next) {
  const start = new Vector3();
  const found = [start];
  const cosine = next ? own.dot(next) : 1;
  const sine2 = 1 - cosine * cosine;
  if (sine2 < 0.01) {
    found.push(own.clone().multiplyScalar(own.dot(to)));
  } else {
    const [along, behind] = [own.dot(to), next.dot(to)];
    found.push(own.clone().multiplyScalar((along - cosine * behind) / sine2));
    found.push(to.clone().addScaledVector(next, (cosine * along - behind) / sine2));
  }
  found.push(to);
  const reach = FAR * to.length();
  if (found.some((corner) => corner.length() > reach)) return [start, to];
  return found.filter((corner, k) => k === 0 || corner.distanceTo(found[k - 1]) > 1e-4 * reach);
}

function limb(path, [first, last], material, open) {
  const lengths = path.slice(1).map((corner, k) => corner.distanceTo(path[k]));
  const whole = lengths.reduce((sum, length) => sum + length, 0);
  let done = 0;
  return lengths.map((length, k) => {
    const radius = (share) => first + (last - first) * share;
    const ends = [radius(done / whole), radius((done + length) / whole)];
    done += length;
    return capsule(path[k], path[k + 1], ends, material, open && k === 0);
  });
}

// Where the foot ends: at the base's origin, lower where the second joint is too near to it.
function ground(joints, radius) {
  if (joints.length < 2 || joints[1].parent !== 0) return 0;
  const [first, second] = joints.map(({ origin }) => new Matrix4().fromArray(origin));
  const height = new Vector3().setFromMatrixPosition(first.multiply(second)).z;
  return Math.min(0, height - radius);
}

function foot(height, radius, material) {
  const half = 0.2 * radius;
  const at = new Vector3(0, 0, height + half);
  return drum(at, new Vector3(0, 0, 1), 1.9 * radius, half, 0.4 * half, material);
}

// A mesh: places in steps of a box, corners of triangles; sharp edges stay sharp.
function skin({ least, step, places, faces }, material) {
  const steps = new Uint16Array(bytes(places).buffer);
  const corner = new Uint16Array(bytes(faces).buffer);
  const at = new Float32Array(steps.length);
  steps.forEach((value, k) => (at[k] = least[k % 3] + step[k % 3] * value));
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(at, 3));
  geometry.setIndex(new BufferAttribute(corner, 1));
  return new Mesh(creased(geometry), material);
}

// Normals as means of the faces about a corner that hardly differ from its own face.
function creased(geometry) {
  const split = geometry.toNonIndexed();
  const at = split.attributes.position;
  const index = geometry.index.array;
  const faces = [];
  const about = new Map();
  const [a, b, c] = [new Vector3(), new Vector3(), new Vector3()];
  for (let k = 0; k < at.count; k += 3) {
    a.fromBufferAttribute(at, k);
    b.fromBufferAttribute(at, k + 1).sub(a);
    c.fromBufferAttribute(at, k + 2).sub(a);
    const area = b.clone().cross(c);
    faces.push({ area, way: area.clone().normalize() });
    for (let j = 0; j < 3; j++) {
      const corner = index[k + j];
      if (!about.has(corner)) about.set(corner, []);
      about.get(corner).push(faces.length - 1);
    }
  }
  const normals = new Float32Array(3 * at.count);
  const least = Math.cos(CREASE);
  for (let k = 0; k < at.count; k++) {
    const own = faces[Math.floor(k / 3)];
    const sum = new Vector3();
    for (const face of about.get(index[k])) {
      if (faces[face].way.dot(own.way) >= least) sum.add(faces[face].area);
    }
    sum.normalize().toArray(normals, 3 * k);
  }
  split.setAttribute("normal", new BufferAttribute(normals, 3));
  return split;
}

function head({ flange, tip, beam }, size, paints) {
  const [a, b] = [new Vector3(...flange), new Vector3(...tip)];
  const way = new Vector3(...beam);
  const [thick, thin] = [0.02 * size, 0.012 * size];
  const plate = drum(a, way, 1.5 * thick, 0.3 * thick, 0.08 * thick, paints.joint);
  if (a.distanceTo(b) < 1e-6) return [plate]; // a bare flange
  const mouth = b.clone().addScaledVector(way, -0.1 * size);
  const light = new MeshStandardMaterial({
    color: colour("beam"), transparent: true, opacity: 0.6,
  });
  const ray = new Mesh(new ConeGeometry(size * 0.012, 0.1 * size, 16), light);
  ray.position.copy(mouth).lerp(b, 0.5);
  ray.quaternion.setFromUnitVectors(UP, way);
  const neck = mouth.clone().addScaledVector(way, -0.06 * size);
  const parts = [plate, ray, capsule(neck, mouth, [thick, thin], paints.arm)];
  if (a.distanceTo(neck) > thin) parts.push(capsule(a, neck, [thick, thick], paints.joint));
  return parts;
}

// What shows through the bodies, faintly: the seam stays in front of the robot.
export function ghost(mesh) {
  const material = mesh.material.clone();
  Object.assign(material, { transparent: true, opacity: 0.35, depthTest: false });
  const seen = new Mesh(mesh.geometry, material);
  seen.renderOrder = 1;
  return seen;
}

export function dress(model, inside) {
  const { size } = model;
  const paint = (name, roughness) =>
    new MeshStandardMaterial({ color: colour(name), roughness, metalness: 0.15 });
  const paints = { arm: paint("arm", 0.5), joint: paint("joint", 0.6) };
  const painted = (name) => (paints[name] ||= paint(name, 0.4));
  const count = model.joints.filter(({ width }) => !width).length;
  const thick = (i) =>
    model.joints[i]?.width || size * (THICK[0] + (THICK[1] - THICK[0]) * (i + 1) / count);
  const axisOf = (i) => (i < 0 ? new Vector3(0, 0, 1) : new Vector3(...model.joints[i].axis));
  const floor = ground(model.joints, HOUSING.radius * thick(1));
  const worn = new Set((model.meshes || []).map(({ body }) => body));
  for (const mesh of model.meshes || []) inside(mesh.body).add(skin(mesh, paints.arm));
  model.bars.forEach(({ body, from, to, tone }, k) => {
    const end = new Vector3(...to);
    if (tone) {
      const radius = thick(body);
      const rod = capsule(new Vector3(...from), end, [radius, radius], painted(tone));
      inside(body).add(rod);
      return;
    }
    if (worn.has(body) || end.length() < 1e-6) return;
    const joint = model.joints[k];
    const turn = joint && new Matrix4().fromArray(joint.origin);
    const next = joint && axisOf(k).transformDirection(turn);
    const path = corners(end, axisOf(body), next);
    const radii = [thick(body), TAPER * thick(body)];
    inside(body).add(...limb(path, radii, paints.arm, body < 0));
  });
  model.joints.forEach(({ width, parent, origin }, i) => {
    if (width || worn.has(i) || worn.has(parent)) return;
    const radius = thick(i);
    const { radius: wide, half, bevel } = HOUSING;
    const sizes = [wide * radius, half * radius, bevel * radius];
    const at = new Vector3();
    if (parent < 0) {
      const frame = new Matrix4().fromArray(origin);
      const up = new Vector3(0, 0, 1).transformDirection(frame.clone().invert());
      const height = new Vector3().setFromMatrixPosition(frame).z;
      at.copy(up).multiplyScalar(Math.max(0, floor + sizes[1] - height));
    }
    inside(i).add(drum(at, axisOf(i), ...sizes, paints.joint));
  });
  if (!worn.has(-1)) inside(-1).add(foot(floor, thick(-1), paints.joint));
  if (model.tool) inside(model.tool.body).add(...head(model.tool, size, paints));
}
