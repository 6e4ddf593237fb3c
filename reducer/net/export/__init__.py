"""The net in other people's formats. Each module is one function from a `Net` to text.

document   JSON, whole: what the net knows, in wire names
pnml       ISO 15909-2, for other Petri net tools
mermaid    a flowchart for a README or an issue
svg        a picture, from positions handed in or laid out by `layers`
layers     columns by longest path: a plain layout for a still picture
"""
