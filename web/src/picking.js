// Where a pointer is in the robot's frame: the ray that it sees along, and whether it hits the seam.
import { Raycaster, Vector2, Vector3 } from "three";

const NEAR = 14; // from the seam at which it is hit [px]

const ofRobot = ({ x, y, z }) => [x, -z, y]; // the page's y is the robot's z, its z the robot's -y

export function picking(camera, canvas, inside, draw) {
  const caster = new Raycaster();
  const place = new Vector2();
  const aim = ({ clientX, clientY }) => {
    const box = canvas.getBoundingClientRect();
    place.set(
      (2 * (clientX - box.left)) / box.width - 1,
      1 - (2 * (clientY - box.top)) / box.height,
    );
    caster.setFromCamera(place, camera);
    return box;
  };
  const ray = (event) => {
    aim(event);
    const { origin, direction } = caster.ray;
    return { from: ofRobot(origin), way: ofRobot(direction) };
  };
  // the point of the seam that is next to the pointer on the screen, if it is near
  const hit = (event) => {
    const box = aim(event);
    const { root, points } = inside.path;
    const on = new Vector3();
    let [best, found] = [NEAR, null];
    for (const point of points) {
      root.localToWorld(on.copy(point));
      const world = on.clone();
      on.project(camera);
      const across = (0.5 * (on.x - place.x)) * box.width;
      const up = (0.5 * (on.y - place.y)) * box.height;
      const far = Math.hypot(across, up);
      if (far < best) [best, found] = [far, ofRobot(world)];
    }
    return found;
  };
  // the seam elsewhere until new data come
  const shift = ([x, y, z]) => {
    inside.path.root.position.set(x, y, z);
    draw();
  };
  return { ray, hit, shift };
}
