// Lays out a growing graph anew at every patch with elkjs and dagre, as a page would.
// stdin: [{nodes: [id], edges: [[from, to]]}, …]; stdout: {name: [{ms, at: {id: [x, y]}}, …]}
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(new URL("../tests/e2e/package.json", import.meta.url));
const elkjs = new (require("elkjs"))();
const dagre = require("@dagrejs/dagre");
const SIZE = { width: 140, height: 60 };
const stages = JSON.parse(readFileSync(0, "utf8"));

async function elk({ nodes, edges }, options) {
  const graph = await elkjs.layout({
    id: "root",
    layoutOptions: { "elk.algorithm": "layered", "elk.direction": "RIGHT", ...options },
    children: nodes.map((id) => ({ id, ...SIZE })),
    edges: edges.map(([from, to], n) => ({ id: `e${n}`, sources: [from], targets: [to] })),
  });
  return Object.fromEntries(graph.children.map((c) => [c.id, [c.x, c.y]]));
}

async function withDagre({ nodes, edges }) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "LR" });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of nodes) graph.setNode(id, { ...SIZE });
  for (const [from, to] of edges) graph.setEdge(from, to);
  dagre.layout(graph);
  return Object.fromEntries(nodes.map((id) => [id, [graph.node(id).x, graph.node(id).y]]));
}

const engines = {
  elkjs: (stage) => elk(stage, {}),
  "elkjs, model order": (stage) =>
    elk(stage, { "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES" }),
  dagre: withDagre,
};
const found = {};
for (const [name, engine] of Object.entries(engines)) {
  await engine(stages[0]); // warm
  found[name] = [];
  for (const stage of stages) {
    const began = performance.now();
    const at = await engine(stage);
    found[name].push({ ms: performance.now() - began, at });
  }
}
process.stdout.write(JSON.stringify(found));
