// The stage: robot, seam, light and camera, and a ring where the tool is.
import {
  AmbientLight, DirectionalLight, DoubleSide, GridHelper, Group, Mesh, MeshBasicMaterial,
  PerspectiveCamera, RingGeometry, Scene, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { colour, current, data, floats, follow } from "./data.js";
import { picking } from "./picking.js";
import { placements } from "./placements.js";
import { robot } from "./robot.js";
import { RADIUS, seam } from "./seam.js";
import { leavePageItsScroll, viewKeys, views } from "./views.js";

const RING = 0.016; // radius of the ring, as a share of the camera's distance
const LIGHTS = [[2, 3, 2, 2.2], [-2, 1, -1, 0.8]];

function rendererOf(canvas) {
  try {
    const options = { canvas, antialias: true, alpha: true, preserveDrawingBuffer: true };
    const renderer = new WebGLRenderer(options);
    renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    return renderer;
  } catch {
    return null; // no 3-D in this browser: the page says so
  }
}

function lit(world) {
  world.add(new AmbientLight(0xffffff, 1.6));
  for (const [x, y, z, power] of LIGHTS) {
    const light = new DirectionalLight(0xffffff, power);
    light.position.set(x, y, z);
    world.add(light);
  }
}

// A ring that faces the camera: the colour of the seam inside of it stays visible.
function ringMarker() {
  const paint = { color: colour("mark"), side: DoubleSide, depthTest: false };
  const ring = new Mesh(new RingGeometry(0.8, 1, 40), new MeshBasicMaterial(paint));
  ring.renderOrder = 1;
  ring.face = (camera) => {
    ring.quaternion.copy(camera.quaternion);
    const far = camera.position.distanceTo(ring.position);
    ring.scale.setScalar(Math.max(ring.least, RING * far));
  };
  return ring;
}

function buttons(element, { names, show }, done) {
  const place = element.querySelector("[data-views]");
  for (const name of names) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.view = name;
    button.textContent = name;
    button.addEventListener("click", () => {
      show(name);
      done();
    });
    place.append(button);
  }
}

// What is in the world: the robot, its seam, tiles and the floor; parts that stay are kept.
function contents(world) {
  const root = new Group();
  root.rotation.x = -Math.PI / 2; // the robot's z is up
  const ring = ringMarker();
  world.add(root, ring);
  lit(world);
  const own = { ring, factor: 1, arm: null, path: null, tiles: null, floor: null };
  let dressed = "";
  const gone = [];
  const renew = (name, part) => {
    if (own[name]) gone.push(own[name].root.removeFromParent());
    own[name] = part;
    root.add(part.root);
  };
  own.show = (model) => {
    const { seam: path, tip, map, ...body } = model;
    const look = JSON.stringify(body);
    const other = look !== dressed;
    if (other) {
      dressed = look;
      renew("arm", robot(model));
      const lines = new GridHelper(2.4 * model.size, 12, colour("grid"), colour("grid"));
      lines.rotation.x = Math.PI / 2;
      renew("floor", { root: lines });
      ring.least = 4 * RADIUS * model.size;
    }
    renew("path", seam(path, model.size));
    renew("tiles", { root: placements(map) });
    own.path.exaggerate(own.factor);
    own.tip = floats(tip);
    return other;
  };
  // only once the next picture uses their shaders, which else were compiled again for each
  own.clear = () => gone.splice(0).forEach(remove);
  own.undress = () => (dressed = "");
  own.pose = (index) => {
    own.arm.pose(index);
    const [x, y, z] = own.tip.subarray(3 * index, 3 * index + 3);
    ring.position.set(x, z, -y);
  };
  return own;
}

function remove(root) {
  root.traverse(({ geometry, material }) => {
    geometry?.dispose();
    material?.dispose();
  });
}

function build(figure, element) {
  const canvas = element.querySelector("canvas");
  const picture = element.querySelector("img");
  const renderer = rendererOf(canvas);
  if (!renderer) return { element, show: () => {} };
  element.classList.remove("flat");
  figure.querySelector(".views").hidden = false;

  const world = new Scene();
  const inside = contents(world);
  const camera = new PerspectiveCamera(38, 1, 0.01, 20);
  const controls = new OrbitControls(camera, canvas);
  const named = views(camera, controls, () => {
    const [arm, path, tiles] = ["arm", "path", "tiles"].map((name) => inside[name].root);
    return { whole: [arm, path, tiles], seam: [path] };
  });
  leavePageItsScroll(element, canvas);

  const paint = () => {
    inside.ring.face(camera);
    renderer.render(world, camera);
    inside.clear();
  };
  let due = false;
  // what changes together, as data, sample and place, is drawn once
  const draw = () => {
    if (due) return;
    due = true;
    queueMicrotask(() => {
      due = false;
      paint();
    });
  };
  const keep = () => {
    paint();
    picture.src = canvas.toDataURL("image/png");
  };
  const pose = (index) => {
    inside.pose(index);
    draw();
  };
  const fit = () => {
    const width = element.clientWidth;
    if (!width) return;
    const height = Math.round(Math.max(220, Math.min(460, 0.6 * width, 0.4 * innerHeight)));
    renderer.setSize(width, height, false);
    canvas.style.height = `${height}px`;
    camera.aspect = width / height;
    camera.updateProjectionMatrix();
    draw();
  };
  const show = () => {
    const { size } = data.scene;
    const other = inside.show(data.scene);
    pose(Math.min(data.count - 1, Math.max(current(), data.start || 0)));
    if (!other) return;
    [camera.near, camera.far] = [0.01 * size, 20 * size];
    fit();
    world.updateMatrixWorld(true);
    named.show("whole");
    keep();
  };

  controls.addEventListener("change", draw);
  controls.addEventListener("end", keep);
  viewKeys(canvas, camera, controls, keep);
  buttons(figure, named, keep);
  figure.querySelector("[data-error]").addEventListener("change", (event) => {
    inside.factor = Number(event.target.value);
    inside.path.exaggerate(inside.factor);
    keep();
  });
  follow(pose);
  addEventListener("resize", fit);
  addEventListener("beforeprint", keep);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    inside.undress();
    show();
  });
  show();
  element.dataset.ready = "yes";
  return { element, show, canvas, controls, ...picking(camera, canvas, inside, draw) };
}

let shown = null;

// What a live page asks of the stage: where a pointer is in the robot's frame.
export const stage = () => shown;

export function scene(figure) {
  const element = figure.querySelector("[data-scene]");
  if (shown?.element === element) shown.show();
  else shown = build(figure, element);
}

// The stage moves to its place in the next page, which has a legend of its own.
export function moveScene(page) {
  const place = page.querySelector("[data-stage]");
  if (!shown || !place) return;
  const controls = document.querySelector("[data-stage] .controls");
  place.querySelector("[data-scene]").replaceWith(shown.element);
  place.querySelector(".controls").replaceWith(controls);
}
