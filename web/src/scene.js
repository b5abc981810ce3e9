// The stage: robot, seam, light and camera, and a ring where the tool is.
import {
  AmbientLight, DirectionalLight, DoubleSide, GridHelper, Group, Mesh, MeshBasicMaterial,
  PerspectiveCamera, RingGeometry, Scene, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { colour, current, data, floats, follow } from "./data.js";
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
function ringMarker(least) {
  const paint = { color: colour("mark"), side: DoubleSide, depthTest: false };
  const ring = new Mesh(new RingGeometry(0.8, 1, 40), new MeshBasicMaterial(paint));
  ring.renderOrder = 1;
  ring.face = (camera) => {
    ring.quaternion.copy(camera.quaternion);
    const far = camera.position.distanceTo(ring.position);
    ring.scale.setScalar(Math.max(least, RING * far));
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

export function scene(figure) {
  const element = figure.querySelector("[data-scene]");
  const canvas = element.querySelector("canvas");
  const picture = element.querySelector("img");
  const renderer = rendererOf(canvas);
  if (!renderer) return;
  element.classList.remove("flat");
  figure.querySelector(".views").hidden = false;

  const model = data.scene;
  const { size } = model;
  const world = new Scene();
  const stage = new Group();
  stage.rotation.x = -Math.PI / 2; // the robot's z is up
  const arm = robot(model);
  const path = seam(model.seam, size);
  const ring = ringMarker(4 * RADIUS * size);
  const tiles = placements(model.map);
  stage.add(arm.root, path.root, tiles);
  world.add(stage, ring, new GridHelper(2.4 * size, 12, colour("grid"), colour("grid")));
  lit(world);

  const camera = new PerspectiveCamera(38, 1, 0.01 * size, 20 * size);
  const controls = new OrbitControls(camera, canvas);
  const named = views(camera, controls, { whole: [arm.root, path.root, tiles], seam: [path.root] });
  leavePageItsScroll(element, canvas);

  const tip = floats(model.tip);
  const draw = () => {
    ring.face(camera);
    renderer.render(world, camera);
  };
  const keep = () => {
    draw();
    picture.src = canvas.toDataURL("image/png");
  };
  const pose = (index) => {
    arm.pose(index);
    const [x, y, z] = tip.subarray(3 * index, 3 * index + 3);
    ring.position.set(x, z, -y);
    draw();
  };
  const fit = () => {
    const width = element.clientWidth;
    const height = Math.round(Math.max(220, Math.min(460, 0.6 * width, 0.4 * innerHeight)));
    renderer.setSize(width, height, false);
    canvas.style.height = `${height}px`;
    camera.aspect = width / height;
    camera.updateProjectionMatrix();
    draw();
  };

  controls.addEventListener("change", draw);
  controls.addEventListener("end", keep);
  viewKeys(canvas, camera, controls, keep);
  buttons(figure, named, keep);
  figure.querySelector("[data-error]").addEventListener("change", (event) => {
    path.exaggerate(Number(event.target.value));
    keep();
  });
  follow(pose);
  addEventListener("resize", fit);
  addEventListener("beforeprint", keep);
  fit();
  pose(Math.max(current(), data.start || 0));
  world.updateMatrixWorld(true);
  named.show("whole");
  keep();
  element.dataset.ready = "yes";
}
