// The camera of a view: orbits, fits what is shown into the picture, looks along the axes.
(function() {
'use strict';

const lissom = (window.lissom = window.lissom || {});
const view_angle = 28;  // from top to bottom [degrees]

// Orbits around a target; z points up, or y of a mechanism that is flat in z.
class Camera {
  constructor(canvas, cloud, on_change) {
    const box = new THREE.Box3().setFromArray(cloud), extent = box.getSize(new THREE.Vector3());
    this.box = box;
    this.size = extent.length() || 1;
    const flat = extent.z < 0.35 * Math.min(extent.x, extent.y);
    this.camera = new THREE.PerspectiveCamera(view_angle, 1, 0.1, 10);
    this.camera.up.set(0, flat ? 1 : 0, flat ? 0 : 1);
    this.first_direction = flat ? new THREE.Vector3(0.22, 0.3, 1) : new THREE.Vector3(0.55, -1, 0.5);
    this.cloud = cloud;
    this.controls = new THREE.OrbitControls(this.camera, canvas);
    this.controls.enableKeys = false;
    this.controls.screenSpacePanning = true;
    this.controls.addEventListener('change', on_change);
    this.controls.addEventListener('start', () => {
      this.touched = true;
    });
    this.aspect = 1;
    this.touched = false;  // by the reader, since all was in the picture
  }

  // from: a direction to look from, or nothing to keep it
  fit(from) {
    const {camera, controls, cloud} = this;
    const towards = from ? from.clone() : camera.position.clone().sub(controls.target);
    camera.position.copy(controls.target).add(towards.normalize());
    camera.lookAt(controls.target);
    camera.updateMatrixWorld();
    const axes = [0, 1, 2].map((i) => new THREE.Vector3().setFromMatrixColumn(camera.matrixWorld, i));
    const tangent_y = Math.tan(view_angle / 2 * Math.PI / 180) * 0.92, tangent_x = tangent_y * this.aspect;
    // the middle of what is seen, then the distance at which all of it is
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity],
          at = new THREE.Vector3();
    const seen = (i) => axes.map((axis) => axis.dot(at.fromArray(cloud, i)));
    for (let i = 0; i < cloud.length; i += 3) {
      seen(i).forEach((value, k) => {
        low[k] = Math.min(low[k], value);
        high[k] = Math.max(high[k], value);
      });
    }
    const middle = low.map((value, k) => (value + high[k]) / 2);
    let distance = 1e-6 * this.size;
    for (let i = 0; i < cloud.length; i += 3) {
      const [x, y, z] = seen(i);
      distance = Math.max(
          distance,
          z - middle[2] + Math.max(Math.abs(x - middle[0]) / tangent_x, Math.abs(y - middle[1]) / tangent_y));
    }
    controls.target.set(0, 0, 0);
    axes.forEach((axis, k) => controls.target.addScaledVector(axis, middle[k]));
    camera.position.copy(controls.target).addScaledVector(axes[2], distance);
    controls.update();
    this.touched = false;
  }
  // what the picture should hold, and its width over its height
  hold(cloud, aspect) {
    this.cloud = cloud;
    this.box.setFromArray(cloud);
    this.aspect = aspect;
    if (!this.touched) this.fit();
  }

  along(axis) {
    const up = this.camera.up, from = new THREE.Vector3();
    from[axis] = 1;
    // at the pole the picture's up is what the small tilt points away from
    if (up[axis] === 1) from[axis === 'z' ? 'y' : 'z'] = axis === 'z' ? -1e-4 : 1e-4;
    if (axis === 'y' && up.z === 1) from.y = -1;
    this.fit(from);
  }

  orbit(right, upwards) {
    this.touched = true;
    const {camera, controls} = this, offset = camera.position.clone().sub(controls.target);
    const to_y = new THREE.Quaternion().setFromUnitVectors(camera.up, new THREE.Vector3(0, 1, 0));
    const place = new THREE.Spherical().setFromVector3(offset.applyQuaternion(to_y));
    place.theta += right;
    place.phi -= upwards;
    place.makeSafe();
    camera.position.setFromSpherical(place).applyQuaternion(to_y.inverse()).add(controls.target);
    controls.update();
  }
  zoom(factor) {
    this.touched = true;
    const {camera, controls} = this;
    camera.position.sub(controls.target).multiplyScalar(factor).add(controls.target);
    controls.update();
  }
  pan(right, upwards) {
    this.touched = true;
    const {camera, controls} = this, step = camera.position.distanceTo(controls.target);
    for (const [axis, by] of [[0, right], [1, upwards]]) {
      const move = new THREE.Vector3().setFromMatrixColumn(camera.matrix, axis).multiplyScalar(by * step);
      camera.position.add(move);
      controls.target.add(move);
    }
    controls.update();
  }

  // Depths that hold all of the box, and twice that for deformation.
  prepare(aspect) {
    const {camera, box, size} = this;
    const distance = camera.position.distanceTo(box.getCenter(new THREE.Vector3()));
    camera.far = distance + 2 * size;
    camera.near = Math.max(distance - 2 * size, camera.far / 2000);
    camera.aspect = aspect;
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
  }
  // of a length at the target, in a picture so many pixels high
  pixels(length, height) {
    const distance = this.camera.position.distanceTo(this.controls.target);
    return length * height / (2 * Math.tan(view_angle / 2 * Math.PI / 180) * distance);
  }
}

lissom.view_camera = {Camera};
})();
