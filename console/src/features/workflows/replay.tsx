import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useChange } from '#console/api/query.ts'
import { formatDuration, formatList } from '#console/i18n/format.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { CodeBlock } from '#console/ui/code.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { onKeys } from '#console/ui/keys.ts'
import { Time } from '#console/ui/time.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import { Decision } from './decision.tsx'
import { type Execution, executionLists, retryExecution, terminateExecution } from './requests.ts'
import { RunStatus } from './runs.tsx'
import { text } from './text.ts'
import { questionOf, resultsAt, type TimedResult, type Timeline } from './timeline.ts'

interface ReplayProps {
  run: Execution
  timeline: Timeline
  /** The position in the timeline, from 0 to 1. */
  position: number
  onMove(position: number): void
  /** Called when the person wants another run with the same input. */
  onAgain(): void
}

const tickMs = 80
const playTicks = 60
const maxNames = 3

/** A run: its wait, its timeline, its input and output. */
export function Replay({ run, timeline, position, onMove, onAgain }: ReplayProps) {
  const t = useText(text)
  const agent = useAgent()
  const [isPlaying, setPlaying] = useState(false)
  const { start, end, moments, positionOf, timeAt } = timeline
  useEffect(() => {
    if (!isPlaying) return
    const timer = setTimeout(() => {
      onMove(Math.min(1, position + 1 / playTicks))
      if (position + 1 / playTicks >= 1) setPlaying(false)
    }, tickMs)
    return () => clearTimeout(timer)
  }, [isPlaying, position, onMove])

  const time = timeAt(position)
  const running = resultsAt(timeline, time).filter(
    ({ status }) => status === 'running' || status === 'waiting',
  )
  const names = [...new Set(running.map(({ node_id }) => node_id))].slice(0, maxNames)
  const elapsed = t.ofTime(formatDuration(time - start), formatDuration(end - start))

  const moveTo = (moment: number) => onMove(moment === end ? 1 : positionOf(moment))
  const forward = () => moveTo(moments.find(moment => positionOf(moment) > position + 1e-9) ?? end)
  const back = () => moveTo(moments.findLast(moment => positionOf(moment) < position - 1e-9) ?? start)

  return (
    <section className="card replay" aria-label={t.replay}>
      <header>
        <Button
          icon={isPlaying ? 'pause' : 'play'}
          label={isPlaying ? t.stopPlaying : t.play}
          onClick={() => {
            if (!isPlaying && position >= 1) onMove(0)
            setPlaying(!isPlaying)
          }}
        />
        <h2>
          {t.runOf} <Time at={run.started_at ?? run.created_at} />
        </h2>
        <RunStatus run={run} />
        <span className="now">{formatList(names)}</span>
        <span className="num elapsed">{elapsed}</span>
      </header>
      {run.error !== null && <p className="error">{run.error}</p>}
      {agent.may('change') &&
        timeline.results
          .filter(result => questionOf(result) !== undefined)
          .map(result => <Decision key={`${result.node_id}/${result.path}`} run={run} result={result} />)}
      <div className="time">
        <Bars timeline={timeline} position={position} />
        <input
          type="range"
          aria-label={t.time}
          title={t.timeHint}
          min={0}
          max={1}
          step="any"
          value={position}
          aria-valuetext={[elapsed, formatList(names)].filter(Boolean).join(': ')}
          onChange={({ target }) => onMove(Number(target.value))}
          onKeyDown={onKeys({ ArrowRight: forward, ArrowUp: forward, ArrowLeft: back, ArrowDown: back })}
        />
      </div>
      <footer>
        <details>
          <summary>{t.runInput}</summary>
          <CodeBlock label={t.runInput} text={JSON.stringify(run.input, undefined, 2)} />
        </details>
        {run.output !== null && (
          <details>
            <summary>{t.runOutput}</summary>
            <CodeBlock label={t.runOutput} text={JSON.stringify(run.output, undefined, 2)} />
          </details>
        )}
        {agent.may('change') && <Changes run={run} onAgain={onAgain} />}
      </footer>
    </section>
  )
}

function Changes({ run, onAgain }: { run: Execution; onAgain(): void }) {
  const t = useText(text)
  const agent = useAgent()
  const changes = executionLists(agent)
  const retry = useRetry(run)
  const terminate = useChange(terminateExecution(agent, run.id), {
    changes,
    onDone: () => toast(t.terminated),
  })
  const isOpen = run.completed_at === null
  async function stop() {
    const question = {
      title: t.terminateTitle,
      text: t.terminateText,
      action: t.terminate,
      isDangerous: true,
    }
    if (await confirm(question)) terminate.mutate(undefined, { onError: toastError })
  }
  return (
    <div className="actions">
      {isOpen ? (
        <Button kind="danger" icon="stop" onClick={() => void stop()}>
          {t.terminate}
        </Button>
      ) : (
        <>
          {run.status === 'errored' && (
            <Button icon="refresh" disabled={retry.isPending} onClick={() => retry.start()}>
              {t.retry}
            </Button>
          )}
          <Button icon="play" onClick={onAgain}>
            {t.again}
          </Button>
        </>
      )}
    </div>
  )
}

/** Starts another run that reuses results of this one, and shows it. */
export function useRetry({ id, workflow_id }: Pick<Execution, 'id' | 'workflow_id'>) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const { mutate, isPending } = useChange(retryExecution(agent, id), {
    changes: executionLists(agent),
    onDone({ execution_id }) {
      toast(t.startedRun)
      void navigate({ to: `${agent.home}/workflows/${workflow_id}/runs/${execution_id}` })
    },
  })
  const start = (from_node?: string) =>
    mutate(from_node === undefined ? {} : { from_node }, { onError: toastError })
  return { start, isPending }
}

const rowHeight = 9
const minWidth = 4
const width = 1000

/** A row of bars for each step's results, by state. Only visual: the steps repeat the states in words. */
function Bars({ timeline, position }: { timeline: Timeline; position: number }) {
  const { results, end, positionOf } = timeline
  const rows = [...new Set(results.map(({ node_id }) => node_id))]
  const rowOf = new Map(rows.map((id, row) => [id, row]))
  const barOf = ({ node_id, begin, end: ended }: TimedResult) => {
    const from = Math.min(positionOf(begin) * width, width - minWidth)
    const length = Math.max(minWidth, positionOf(Math.min(ended, end)) * width - from)
    return `M${from.toFixed(1)} ${(rowOf.get(node_id) ?? 0) * rowHeight + 1}h${length.toFixed(1)}v${rowHeight - 2}h-${length.toFixed(1)}z`
  }
  const height = Math.max(1, rows.length) * rowHeight
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      style={{ height: Math.min(height, 160) }}
      aria-hidden="true"
    >
      {[...Map.groupBy(results, ({ status }) => status)].map(([status, ofStatus]) => (
        <path key={status} className={status} d={ofStatus.map(barOf).join('')} />
      ))}
      <path className="cursor" d={`M${position * width} 0v${height}`} />
    </svg>
  )
}
