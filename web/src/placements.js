// Tiles where workpieces were placed, coloured by what became of the seam there.
import {
  Color, DoubleSide, Group, InstancedMesh, Matrix4, MeshBasicMaterial, PlaneGeometry,
} from "three";
import { colour, floats } from "./data.js";

const tint = (r) => {
  if (r < 0) return "off-line";
  if (r >= 1) return "bad";
  return r < 0.5 ? "good" : "fair";
};

export function placements(model) {
  const root = new Group();
  if (!model) return root;
  const points = floats(model.points);
  const ratio = floats(model.ratio);
  const [width, depth] = model.tile;
  const paint = { side: DoubleSide, transparent: true, opacity: 0.75 };
  const tiles = new InstancedMesh(
    new PlaneGeometry(width, depth), new MeshBasicMaterial(paint), ratio.length,
  );
  ratio.forEach((r, k) => {
    const [x, y, z] = points.subarray(3 * k, 3 * k + 3);
    tiles.setMatrixAt(k, new Matrix4().makeTranslation(x, y, z));
    tiles.setColorAt(k, new Color(colour(tint(r))));
  });
  root.add(tiles);
  return root;
}
