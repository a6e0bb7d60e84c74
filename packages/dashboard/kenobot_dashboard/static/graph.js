// Draws the graph of memory, which can be moved and zoomed.
"use strict";

(async () => {
  const box = document.getElementById("graph");
  if (!box) return;
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const colours = { subject: colour("accent"), topic: colour("warn"), memory: colour("field") };
  const answer = await fetch(box.dataset.source, { headers: { Accept: "application/json" } });
  if (!answer.ok) return;
  const found = await answer.json();
  const graph = new graphology.Graph({ multi: false, type: "undirected" });

  const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text);

  // Places are told by the name of a node, so that the same memory looks the same each time.
  const place = (text) => {
    let hash = 2166136261;
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
    return [(hash >>> 0) / 4294967296, (Math.imul(hash, 2654435761) >>> 0) / 4294967296];
  };
  const crowded = found.nodes.length > 1500;
  const few = found.nodes.length < 40;
  const heaviest = Math.max(1, ...found.nodes.slice(0, 1).map((node) => node.weight));
  for (const node of found.nodes) {
    const [x, y] = place(node.id);
    const isMemory = node.kind === "memory";
    graph.addNode(node.id, {
      x: x * 1000,
      y: y * 1000,
      size: isMemory ? (crowded ? 1.2 : few ? 5 : 3) : 3 + (crowded ? 5 : 13) * Math.sqrt(node.weight / heaviest),
      label: node.id === "subject:owner" ? box.dataset.owner : cut(node.label, isMemory && few ? 34 : 60),
      color: colours[node.kind],
      forceLabel: few || (!isMemory && found.nodes.length < 60),
    });
  }
  for (const edge of found.edges) {
    if (edge.source !== edge.target) graph.mergeEdge(edge.source, edge.target, { size: 1, color: colour(few ? "field" : "line") });
  }

  box.closest("figure").hidden = false;
  const lay = (drawn, iterations) => {
    const settings = graphologyLibrary.layoutForceAtlas2.inferSettings(drawn);
    graphologyLibrary.layoutForceAtlas2.assign(drawn, { iterations, settings });
  };
  if (crowded) layOutClusters();
  else lay(graph, 200);

  // Too many nodes to lay out while somebody waits: subjects and topics are, and memories go around their subject.
  function layOutClusters() {
    const hubs = new graphology.Graph({ multi: false, type: "undirected" });
    const around = new Map();
    graph.forEachNode((node, values) => {
      if (!node.startsWith("memory:")) hubs.addNode(node, { ...values });
    });
    graph.forEachNode((node) => {
      if (!node.startsWith("memory:")) return;
      const near = graph.filterNeighbors(node, (other) => hubs.hasNode(other));
      const own = near.find((other) => other.startsWith("subject:")) ?? near[0];
      if (!around.has(own)) around.set(own, []);
      around.get(own).push(node);
      for (const other of near) if (own && other !== own) hubs.mergeEdge(own, other);
    });
    if (hubs.size > 0) lay(hubs, 100);
    const extent = Math.max(1, ...hubs.mapNodes((_, { x, y }) => Math.hypot(x, y)));
    const spread = (6 * Math.sqrt(graph.order)) / extent;
    hubs.forEachNode((hub, { x, y }) => graph.mergeNodeAttributes(hub, { x: x * spread, y: y * spread }));
    for (const [hub, memories] of around) {
      const [x, y] = hub ? [graph.getNodeAttribute(hub, "x"), graph.getNodeAttribute(hub, "y")] : [0, 0];
      memories.forEach((memory, at) => {
        const angle = 2.399963 * (at + 1);
        const distance = 4 * Math.sqrt(at + 4);
        graph.mergeNodeAttributes(memory, { x: x + distance * Math.cos(angle), y: y + distance * Math.sin(angle) });
      });
    }
  }

  // The wheel scrolls the page; with Ctrl, as two fingers on a touchpad send it, it zooms.
  box.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey) event.stopPropagation();
    },
    { capture: true, passive: true },
  );

  const picture = new Sigma(graph, box, {
    allowInvalidContainer: true,
    labelColor: { color: colour("ink") },
    labelFont: "system-ui, sans-serif",
    labelSize: 13,
    labelRenderedSizeThreshold: crowded ? 5 : 6,
    labelDensity: 0.6,
    hideEdgesOnMove: crowded,
    hideLabelsOnMove: crowded,
    defaultDrawNodeHover: drawHover,
    zIndex: true,
  });
  box.dataset.state = "drawn";
  const camera = picture.getCamera();
  const moves = { closer: () => camera.animatedZoom(), farther: () => camera.animatedUnzoom(), whole: () => camera.animatedReset() };
  for (const [name, move] of Object.entries(moves)) document.getElementById(`graph-${name}`).addEventListener("click", move);

  // The label of a node under the pointer, on a ground in the colours of the page.
  function drawHover(context, data, options) {
    if (!data.label) return;
    context.font = `${options.labelSize}px ${options.labelFont}`;
    const width = context.measureText(data.label).width;
    context.fillStyle = colour("raised");
    context.strokeStyle = colour("accent");
    context.beginPath();
    context.rect(data.x + data.size, data.y - 11, width + 12, 22);
    context.fill();
    context.stroke();
    context.beginPath();
    context.arc(data.x, data.y, data.size + 2, 0, 2 * Math.PI);
    context.fillStyle = data.color;
    context.fill();
    context.fillStyle = colour("ink");
    context.fillText(data.label, data.x + data.size + 6, data.y + options.labelSize / 3);
  }

  let near = null;
  picture.setSetting("nodeReducer", (node, data) =>
    near && node !== near && !graph.areNeighbors(node, near) ? { ...data, color: colour("line"), label: "" } : data,
  );
  picture.setSetting("edgeReducer", (edge, data) =>
    near && graph.hasExtremity(edge, near) ? { ...data, color: colour("accent"), zIndex: 1 } : data,
  );
  picture.on("enterNode", ({ node }) => {
    near = node;
    picture.refresh({ skipIndexation: true });
  });
  picture.on("leaveNode", () => {
    near = null;
    picture.refresh({ skipIndexation: true });
  });
  picture.on("clickNode", ({ node }) => {
    const [kind, ...rest] = node.split(":");
    const name = rest.join(":");
    const picked = document.getElementById("graph-picked");
    picked.replaceChildren();
    const said = document.createElement(kind === "topic" ? "span" : "a");
    said.textContent = graph.getNodeAttribute(node, "label");
    if (kind === "memory") said.href = `${box.dataset.memories}/${name}`;
    if (kind === "subject") said.href = `${box.dataset.memories}?subject=${encodeURIComponent(name)}`;
    picked.append(said);
  });
})();
