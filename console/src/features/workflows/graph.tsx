import { Graph as Layout, layout } from '@dagrejs/dagre'
import {
  Background,
  BaseEdge,
  Controls,
  type Edge,
  type EdgeProps,
  Handle,
  MiniMap,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react'
import { useMemo } from 'react'
import { formatDuration } from '#console/i18n/format.ts'
import { useText } from '#console/i18n/text.ts'
import { Icon, type IconName } from '#console/ui/icon.tsx'
import type { Step } from './steps.ts'
import { text } from './text.ts'
import type { Shown, StepsProps } from './workflow.tsx'

const size = { width: 172, height: 58 }
/** Min number of steps for a map of the graph, and for drawing only steps in sight. */
const mapFrom = 30
const cullFrom = 150

export const icons: Record<string, IconName> = {
  trigger: 'play',
  'if-else': 'flow',
  switch: 'flow',
  loop: 'refresh',
  wait: 'clock',
  'http-request': 'globe',
  navigate: 'browser',
  click: 'browser',
  chat: 'chat',
  code: 'tool',
  email: 'up',
  telegram: 'up',
  whatsapp: 'up',
}

type StepNode = Node<{
  step: Step
  exits: readonly string[]
  shown: Shown
  isChosen: boolean
  onChoose(id: string): void
}>
const nodeTypes = { step: Card }
const edgeTypes = { back: BackEdge }

/** A workflow from left to right, read-only; each step is a button. */
export function Graph({ steps, shownOf, chosen, onChoose }: StepsProps) {
  const t = useText(text)
  const places = useMemo(() => arrange(steps), [steps])
  const xOf = (id: string) => places.get(id)?.x ?? 0
  const nodes: StepNode[] = steps.map(step => ({
    id: step.id,
    type: 'step',
    position: places.get(step.id) ?? { x: 0, y: 0 },
    ...size,
    data: {
      step,
      exits: exitsOf(step, places),
      shown: shownOf(step.id),
      isChosen: step.id === chosen,
      onChoose,
    },
  }))
  const edges: Edge[] = steps.flatMap(({ id, follows }) =>
    follows.map(({ target, exit }) => ({
      id: JSON.stringify([id, exit, target]),
      source: id,
      target,
      sourceHandle: exit ?? '',
      // A loop's edge back is drawn around the steps.
      ...(xOf(target) <= xOf(id) && { type: 'back' }),
      ...(exit !== undefined && { label: t.exits[exit] ?? exit }),
    })),
  )
  return (
    <section className="card graph" aria-label={t.graph}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        onlyRenderVisibleElements={steps.length >= cullFrom}
        minZoom={0.1}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.08 }}
        ariaLabelConfig={{
          'controls.ariaLabel': t.view,
          'controls.zoomIn.ariaLabel': t.zoomIn,
          'controls.zoomOut.ariaLabel': t.zoomOut,
          'controls.fitView.ariaLabel': t.fit,
          'minimap.ariaLabel': t.map,
        }}
      >
        <Background gap={16} />
        <Controls showInteractive={false} />
        {steps.length >= mapFrom && <MiniMap pannable />}
      </ReactFlow>
    </section>
  )
}

type Places = ReadonlyMap<string, { x: number; y: number }>

function arrange(steps: readonly Step[]): Places {
  const graph = new Layout<object, { x: number; y: number }>()
  graph.setGraph({ rankdir: 'LR', nodesep: 28, ranksep: 88 })
  for (const { id } of steps) graph.setNode(id, { ...size, x: 0, y: 0 })
  for (const { id, follows } of steps) for (const { target } of follows) graph.setEdge(id, target, {})
  layout(graph)
  return new Map(
    steps.map(({ id }) => {
      const { x = 0, y = 0 } = graph.node(id)
      return [id, { x: x - size.width / 2, y: y - size.height / 2 }]
    }),
  )
}

/** Returns the exits in the vertical order of their targets, so that edges don't cross. */
function exitsOf({ follows }: Step, places: Places): string[] {
  const heightOf = (target: string) => places.get(target)?.y ?? 0
  const sorted = follows.toSorted((one, other) => heightOf(one.target) - heightOf(other.target))
  return [...new Set(sorted.map(({ exit = '' }) => exit))]
}

function Card({ data: { step, exits, shown, isChosen, onChoose } }: NodeProps<StepNode>) {
  const t = useText(text)
  const { state, problems, results } = shown
  const duration = results.reduce((sum, { duration_ms }) => sum + duration_ms, 0)
  const words = problems.length > 0 ? t.problems(problems.length) : state && t.states[state]
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <button
        type="button"
        className={`step-card ${problems.length > 0 ? 'errored' : (state ?? '')}`}
        aria-pressed={isChosen}
        onClick={() => onChoose(step.id)}
      >
        <span className="glyph">
          <Icon name={icons[step.type] ?? 'more'} />
        </span>
        <b>{step.id}</b>
        <small>
          <span>{words ?? step.type}</span>
          {state === 'complete' && <span className="num">{formatDuration(duration)}</span>}
        </small>
      </button>
      {exits.map((exit, at) => (
        <Handle
          key={exit}
          id={exit}
          type="source"
          position={Position.Right}
          isConnectable={false}
          style={{ top: `${((at + 1) / (exits.length + 1)) * 100}%` }}
        />
      ))}
    </>
  )
}

const bend = 64
const drop = 88

/** An edge that runs below the steps. */
function BackEdge({ sourceX, sourceY, targetX, targetY }: EdgeProps) {
  const below = Math.max(sourceY, targetY) + drop
  const turns = `${sourceX + bend},${below} ${targetX - bend},${below}`
  return <BaseEdge path={`M${sourceX},${sourceY} C${turns} ${targetX},${targetY}`} />
}
