// The seam coloured by its error, and beside it the path as it was run, its error exaggerated, in a
// tube that is the tolerance, exaggerated alike.
import {
  BufferAttribute, BufferGeometry, CatmullRomCurve3, Color, DoubleSide, Group, Line,
  LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, TubeGeometry, Vector3,
} from "three";
import { ghost } from "./bodies.js";
import { colour, floats } from "./data.js";

export const RADIUS = 0.0045; // of the tube, as a share of the robot's size
const SIDES = 6; // of the tube
const OUT_WIDER = 1.8; // the tube is wider where the seam is out of tolerance: shape beside colour

function tints(ratio) {
  const [good, fair, bad, off] = ["good", "fair", "bad", "off-line"].map(
    (name) => new Color(colour(name)),
  );
  const tint = (r) => {
    if (r < 0) return off;
    if (r >= 1) return bad;
    return r < 0.5 ? good : fair;
  };
  return Array.from(ratio, tint);
}

// Each point's colour for all of its vertices.
function painted(geometry, colours, each) {
  const values = new Float32Array(3 * each * colours.length);
  colours.forEach((tint, k) => {
    for (let j = 0; j < each; j++) tint.toArray(values, 3 * (k * each + j));
  });
  geometry.setAttribute("color", new BufferAttribute(values, 3));
}

function tube(points, ratio, colours, radius) {
  const curve = new CatmullRomCurve3(points, false, "catmullrom", 0);
  const geometry = new TubeGeometry(curve, points.length - 1, radius, SIDES, false);
  const { position, normal } = geometry.attributes;
  const wider = (OUT_WIDER - 1) * radius;
  for (let k = 0; k < position.count; k++) {
    if (ratio[Math.floor(k / (SIDES + 1))] < 1) continue;
    position.setXYZ(
      k,
      position.getX(k) + wider * normal.getX(k),
      position.getY(k) + wider * normal.getY(k),
      position.getZ(k) + wider * normal.getZ(k),
    );
  }
  painted(geometry, colours, SIDES + 1);
  return new Mesh(geometry, new MeshBasicMaterial({ vertexColors: true }));
}

// A band from each point of the seam to where the tool was, the error times a factor.
function ribbon(points, errors, colours) {
  const places = new Float32Array(6 * points.length);
  const corners = [];
  for (let k = 0; k + 1 < points.length; k++) {
    const a = 2 * k;
    corners.push(a, a + 1, a + 2, a + 2, a + 1, a + 3);
  }
  const band = new BufferGeometry();
  band.setAttribute("position", new BufferAttribute(places, 3));
  band.setIndex(corners);
  painted(band, colours, 2);
  const run = new BufferGeometry();
  run.setAttribute("position", new BufferAttribute(new Float32Array(3 * points.length), 3));
  const sheet = { vertexColors: true, transparent: true, opacity: 0.45, side: DoubleSide };
  const group = new Group();
  const edge = new LineBasicMaterial({ color: colour("ink") });
  group.add(new Mesh(band, new MeshBasicMaterial(sheet)), new Line(run, edge));
  const exaggerate = (factor) => {
    points.forEach((point, k) => {
      const moved = point.clone().addScaledVector(errors[k], factor);
      point.toArray(places, 6 * k);
      moved.toArray(places, 6 * k + 3);
      moved.toArray(run.attributes.position.array, 3 * k);
    });
    for (const geometry of [band, run]) {
      geometry.attributes.position.needsUpdate = true;
      geometry.computeBoundingSphere();
    }
    group.visible = factor > 1;
  };
  exaggerate(1);
  return { group, exaggerate };
}

const CORNERS = [[1, 1], [-1, 1], [-1, -1], [1, -1]]; // of the tolerance, to the side and upwards

// A tube around the seam with corners at the tolerance, where the process is on. Inside is where
// the ribbon may be: both directions are judged by themselves, so that it has corners.
function toleranceTube(points, sides, ratio) {
  const places = new Float32Array(12 * points.length);
  const [faces, edges] = [[], []];
  for (let k = 0; k + 1 < points.length; k++) {
    if (ratio[k] < 0 || ratio[k + 1] < 0) continue;
    for (let j = 0; j < 4; j++) {
      const [a, b] = [4 * k + j, 4 * k + ((j + 1) % 4)];
      faces.push(a, b, a + 4, a + 4, b, b + 4);
      edges.push(a, a + 4);
    }
  }
  const position = new BufferAttribute(places, 3);
  const [hull, frame] = [new BufferGeometry(), new BufferGeometry()];
  hull.setAttribute("position", position);
  hull.setIndex(faces);
  frame.setAttribute("position", position);
  frame.setIndex(edges);
  const glass = { color: colour("off-line"), transparent: true, opacity: 0.22, side: DoubleSide };
  const group = new Group();
  group.add(
    new Mesh(hull, new MeshBasicMaterial({ ...glass, depthWrite: false })),
    new LineSegments(frame, new LineBasicMaterial({ color: colour("soft") })),
  );
  const exaggerate = (factor) => {
    points.forEach((point, k) => {
      CORNERS.forEach(([lateral, vertical], j) => {
        point
          .clone()
          .addScaledVector(sides[2 * k], lateral * factor)
          .addScaledVector(sides[2 * k + 1], vertical * factor)
          .toArray(places, 3 * (4 * k + j));
      });
    });
    position.needsUpdate = true;
    for (const geometry of [hull, frame]) geometry.computeBoundingSphere();
    group.visible = factor > 1;
  };
  exaggerate(1);
  return { group, exaggerate };
}

function vectors(text) {
  const values = floats(text);
  const found = [];
  for (let k = 0; k < values.length; k += 3) found.push(new Vector3().fromArray(values, k));
  return found;
}

export function seam(model, size) {
  const points = vectors(model.points);
  const ratio = floats(model.ratio);
  const colours = tints(ratio);
  const drawn = [ribbon(points, vectors(model.error), colours)];
  if (model.sides) drawn.push(toleranceTube(points, vectors(model.sides), ratio));
  const root = new Group();
  const path = tube(points, ratio, colours, RADIUS * size);
  root.add(path, ghost(path), ...drawn.map((one) => one.group));
  const exaggerate = (factor) => drawn.forEach((one) => one.exaggerate(factor));
  return { root, points, exaggerate };
}
