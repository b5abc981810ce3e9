// Where the camera stands: named views that fit what they show, keys, and the page keeps its wheel.
import { Box3, Sphere, Vector3 } from "three";

// From where each view looks, and how close; the page's y is the robot's z, its z the robot's -y.
const VIEWS = {
  whole: { from: [1.1, 0.6, 1.25], close: 0.88 },
  front: { from: [1, 0, 0], close: 1 },
  side: { from: [0, 0, 1], close: 1 },
  top: { from: [0, 1, 0.001], close: 1 },
  seam: { from: [1.1, 1.1, 1.25], close: 0.7 },
};
const TURN_KEYS = {
  ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.08], ArrowDown: [0, -0.08],
};
const ZOOM_KEYS = { "+": 0.9, "=": 0.9, "-": 1.1 };

// Far enough that a sphere about the object fits both ways.
function distance(camera, radius) {
  const half = (camera.fov * Math.PI) / 360;
  const level = Math.atan(Math.tan(half) * camera.aspect);
  return radius / Math.sin(Math.min(half, level));
}

export function views(camera, controls, objects) {
  const ball = new Sphere();
  const show = (name) => {
    const box = new Box3();
    const { seam, whole } = objects();
    (name === "seam" ? seam : whole).forEach((one) => box.expandByObject(one));
    box.getBoundingSphere(ball);
    const { from, close } = VIEWS[name];
    const way = new Vector3(...from).normalize();
    const far = close * distance(camera, ball.radius);
    controls.target.copy(ball.center);
    camera.position.copy(ball.center).addScaledVector(way, far);
    controls.update();
  };
  return { names: Object.keys(VIEWS), show };
}

function turned(arrow, [about, up]) {
  const far = arrow.length();
  const angle = Math.atan2(arrow.z, arrow.x) + about;
  const flat = Math.hypot(arrow.x, arrow.z);
  const tilt = Math.max(-1.4, Math.min(1.5, Math.atan2(arrow.y, flat) + up));
  const reach = far * Math.cos(tilt);
  return arrow.set(reach * Math.cos(angle), far * Math.sin(tilt), reach * Math.sin(angle));
}

export function viewKeys(canvas, camera, controls, done) {
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const turn = TURN_KEYS[event.key];
    const zoom = ZOOM_KEYS[event.key];
    if (!turn && !zoom) return;
    const arrow = camera.position.clone().sub(controls.target);
    if (turn) turned(arrow, turn);
    else arrow.multiplyScalar(zoom);
    camera.position.copy(controls.target).add(arrow);
    controls.update();
    done();
    event.preventDefault();
  });
}

// The wheel scrolls the page; with Ctrl, as a pinch on a touchpad sends it, it zooms the view.
// A finger moved up or down scrolls the page, moved sideways it turns the view.
export function leavePageItsScroll(element, canvas) {
  const keep = (event) => event.ctrlKey || event.stopPropagation();
  element.addEventListener("wheel", keep, { capture: true, passive: true });
  canvas.style.touchAction = "pan-y";
}
