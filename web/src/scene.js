// The robot as a figure of its frames, and the seam coloured by its error.
import {
  AmbientLight, BufferAttribute, BufferGeometry, CatmullRomCurve3, Color, ConeGeometry, CylinderGeometry, DirectionalLight,
  GridHelper, Group, Matrix4, Mesh, MeshBasicMaterial, MeshStandardMaterial, PerspectiveCamera, Quaternion, Scene,
  SphereGeometry, TubeGeometry, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { choose, colour, current, data, floats, follow, series } from "./data.js";

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
function robot(model, size) {
  const paint = new MeshStandardMaterial({ color: colour("arm"), roughness: 0.55, metalness: 0.1 });
  const dark = new MeshStandardMaterial({ color: colour("joint"), roughness: 0.6 });
  const root = new Group();
  const frames = model.joints.map(() => ({ moved: new Group() }));
  model.joints.forEach((joint, i) => {
    const fixed = new Group();
    fixed.applyMatrix4(new Matrix4().fromArray(joint.origin));
    fixed.add(frames[i].moved);
    (joint.parent < 0 ? root : frames[joint.parent].moved).add(fixed);
    frames[i].axis = new Vector3(...joint.axis);
    frames[i].slides = joint.slides;
  });
  const thick = (i) => size * (0.055 - 0.033 * Math.min(1, (i + 1) / model.joints.length));
  const inside = (i) => (i < 0 ? root : frames[i].moved);
  model.bars.forEach(({ body, from, to }) => {
    const mesh = bar(new Vector3(...from), new Vector3(...to), thick(body), paint);
    if (mesh) inside(body).add(mesh);
  });
  frames.forEach(({ moved, axis }, i) => {
    const half = axis.clone().multiplyScalar(thick(i) * 1.5);
    moved.add(bar(half.clone().negate(), half, thick(i) * 1.25, dark));
  });
  if (model.tool) {
    const { body, flange, tip, beam } = model.tool;
    const [a, b] = [new Vector3(...flange), new Vector3(...tip)];
    const head = b.clone().addScaledVector(new Vector3(...beam), -0.1 * size);
    [bar(a, head, size * 0.014, dark), ball(a, size * 0.018, dark)].forEach((mesh) => mesh && inside(body).add(mesh));
    const ray = new Mesh(new ConeGeometry(size * 0.012, 0.1 * size, 16), new MeshStandardMaterial({ color: colour("beam"), transparent: true, opacity: 0.75 }));
    ray.position.copy(head).lerp(b, 0.5);
    ray.quaternion.setFromUnitVectors(UP, new Vector3(...beam));
    inside(body).add(ray);
  }
  return { root, frames };
}

function seam(model, size) {
  const points = floats(model.points);
  const ratio = floats(model.ratio);
  const count = ratio.length;
  const at = (k) => new Vector3(points[3 * k], points[3 * k + 1], points[3 * k + 2]);
  const curve = new CatmullRomCurve3(Array.from({ length: count }, (_, k) => at(k)), false, "catmullrom", 0);
  const tube = new TubeGeometry(curve, count - 1, size * 0.006, 6, false);
  const shades = [colour("good"), colour("fair"), colour("bad")].map((text) => new Color(text));
  const off = new Color(colour("off-line"));
  const colours = new Float32Array(tube.attributes.position.count * 3);
  const ring = 7;
  for (let k = 0; k < count; k++) {
    const r = ratio[k];
    const tint = r < 0 ? off.clone() : r >= 1 ? shades[2].clone() : r < 0.5 ? shades[0].clone().lerp(shades[1], 2 * r) : shades[1].clone().lerp(shades[2], (2 * r - 1) * 0.6);
    for (let j = 0; j < ring; j++) tint.toArray(colours, 3 * (k * ring + j));
  }
  tube.setAttribute("color", new BufferAttribute(colours, 3));
  return new Mesh(tube, new MeshBasicMaterial({ vertexColors: true }));
}

export function scene(element) {
  const model = data.scene;
  const canvas = element.querySelector("canvas");
  const picture = element.querySelector("img");
  let renderer;
  try {
    renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true, preserveDrawingBuffer: true });
  } catch {
    element.classList.add("flat");
    return;
  }
  renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
  const world = new Scene();
  const stage = new Group();
  stage.rotation.x = -Math.PI / 2; // the robot's z is up
  world.add(stage);
  const size = model.size;
  const arm = robot(model, size);
  stage.add(arm.root, seam(model.seam, size));
  const grid = new GridHelper(2.4 * size, 12, colour("grid"), colour("grid"));
  world.add(grid, new AmbientLight(0xffffff, 1.6));
  for (const [x, y, z, power] of [[2, 3, 2, 2.2], [-2, 1, -1, 0.8]]) {
    const light = new DirectionalLight(0xffffff, power);
    light.position.set(x, y, z);
    world.add(light);
  }
  const marker = ball(new Vector3(), size * 0.014, new MeshBasicMaterial({ color: colour("mark") }));
  stage.add(marker);
  const camera = new PerspectiveCamera(38, 1, 0.01 * size, 20 * size);
  const target = new Vector3(model.target[0], model.target[2], -model.target[1]);
  camera.position.set(target.x + 1.1 * size, target.y + 0.75 * size, target.z + 1.25 * size);
  const controls = new OrbitControls(camera, canvas);
  controls.target.copy(target);
  controls.update();

  const spin = new Quaternion();
  const tip = floats(model.tip);
  const draw = () => renderer.render(world, camera);
  const pose = (index) => {
    arm.frames.forEach(({ moved, axis, slides }, j) => {
      const q = series(`q${j + 1}`)[index];
      if (slides) moved.position.copy(axis).multiplyScalar(q);
      else moved.quaternion.copy(spin.setFromAxisAngle(axis, q));
    });
    marker.position.set(tip[3 * index], tip[3 * index + 1], tip[3 * index + 2]);
    draw();
  };
  const fit = () => {
    const width = element.clientWidth;
    const height = Math.round(Math.min(460, 0.6 * width));
    renderer.setSize(width, height, false);
    canvas.style.height = `${height}px`;
    camera.aspect = width / height;
    camera.updateProjectionMatrix();
    draw();
  };
  const keep = () => {
    draw();
    picture.src = canvas.toDataURL("image/png");
  };
  controls.addEventListener("change", draw);
  controls.addEventListener("end", keep);
  canvas.addEventListener("keydown", (event) => {
    const turn = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.08], ArrowDown: [0, 0.08] }[event.key];
    const zoom = { "+": 0.9, "=": 0.9, "-": 1.1 }[event.key];
    if (!turn && !zoom) return;
    const arrow = camera.position.clone().sub(target);
    if (turn) {
      const flat = Math.hypot(arrow.x, arrow.z);
      const angle = Math.atan2(arrow.z, arrow.x) + turn[0];
      const tilt = Math.max(-1.4, Math.min(1.5, Math.atan2(arrow.y, flat) - turn[1]));
      const far = arrow.length();
      arrow.set(far * Math.cos(tilt) * Math.cos(angle), far * Math.sin(tilt), far * Math.cos(tilt) * Math.sin(angle));
    } else arrow.multiplyScalar(zoom);
    camera.position.copy(target).add(arrow);
    controls.update();
    keep();
    event.preventDefault();
  });
  follow(pose);
  addEventListener("resize", fit);
  addEventListener("beforeprint", keep);
  fit();
  pose(current());
  keep();
  element.dataset.ready = "yes";
}

export function player(element) {
  const slider = element.querySelector("input");
  const button = element.querySelector("button");
  const told = element.querySelector("output");
  const time = series("time");
  const place = series("place");
  slider.max = data.count - 1;
  let playing = 0;
  const tell = (index) => {
    slider.value = index;
    told.textContent = `${time[index].toFixed(2)} s, ${place[index].toFixed(1)} mm`;
  };
  follow(tell);
  slider.addEventListener("input", () => choose(Number(slider.value)));
  const stop = () => {
    cancelAnimationFrame(playing);
    playing = 0;
    button.textContent = "Play";
  };
  button.addEventListener("click", () => {
    if (playing) return stop();
    button.textContent = "Pause";
    let index = current() >= data.count - 1 ? 0 : current();
    const start = performance.now() - 1000 * time[index];
    const tick = (now) => {
      while (index < data.count - 1 && time[index + 1] <= (now - start) / 1000) index++;
      choose(index);
      if (index >= data.count - 1) return stop();
      playing = requestAnimationFrame(tick);
    };
    playing = requestAnimationFrame(tick);
  });
  tell(current());
}
