// What a page of pymodel/runs/view.py does with its data, by MeshCat's viewer.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
document.title = data.title;
const caption = document.getElementById("caption");
for (const [kind, text] of [["h1", data.title], ...data.facts.map((fact) => ["p", fact])]) {
  caption.appendChild(document.createElement(kind)).textContent = text;
}

const viewer = new MeshCat.Viewer(document.getElementById("meshcat-pane"));
const SCENE = "scene";
viewer.set_property(["Background"], "top_color", [1, 1, 1]);
viewer.set_property(["Background"], "bottom_color", [0.86, 0.88, 0.9]);
viewer.set_transform([SCENE], data.root);
viewer.set_transform(["Axes"], data.axes);
viewer.controls.target.set(...data.centre);
viewer.camera.position.set(...data.eye);

const clips = [];
for (const thing of data.things) {
  const path = [SCENE, thing.name];
  viewer.set_object_from_json(path, thing.object);
  const placed = viewer.scene_tree.find(path).object;
  const tracks = [];
  for (const [name, type, width] of [
    ["position", "vector", 3],
    ["quaternion", "quaternion", 4],
    ["scale", "vector", 3],
  ]) {
    const values = thing[name];
    if (values === undefined) continue;
    placed[name].fromArray(values);
    if (values.length > width) {
      const track = { name: `.${name}`, type, times: data.times.slice(), values };
      if (data.stepwise) track.interpolation = MeshCat.THREE.InterpolateDiscrete;
      tracks.push(track);
    }
  }
  if (tracks.length) clips.push({ path, clip: { fps: 1, name: "motion", tracks } });
}

for (const folder of Object.values(viewer.gui.__folders)) folder.close();
if (clips.length) {
  viewer.set_animation(clips, { play: true, repetitions: Infinity });
  viewer.gui.open();
  const asked = /^#t=([0-9.]+)$/.exec(window.location.hash); // stands still at that time
  if (asked) {
    viewer.animator.pause();
    viewer.animator.seek(Number(asked[1]));
    viewer.animator.display_progress(Number(asked[1]));
  }
}
viewer.set_dirty();
