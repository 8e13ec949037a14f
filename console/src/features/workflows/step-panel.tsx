import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { query } from '#console/api/query.ts'
import { formatDuration } from '#console/i18n/format.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { CodeBlock } from '#console/ui/code.tsx'
import { List } from '#console/ui/list.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { Status } from '#console/ui/status.tsx'
import { Time } from '#console/ui/time.tsx'
import { Decision } from './decision.tsx'
import { useRetry } from './replay.tsx'
import { type Execution, getNodeResult } from './requests.ts'
import { cut, type Step } from './steps.ts'
import { text } from './text.ts'
import { iterationsOf, questionOf, type TimedResult, tones } from './timeline.ts'
import type { Shown } from './workflow.tsx'

interface StepPanelProps {
  step: Step
  shown: Shown
  run: Execution | undefined
  /** True if the run has ended at the shown time. */
  isOver: boolean
  onChoose(id: string): void
  onClose(): void
}

/** A step: its results in the shown run, its settings and its successors. */
export function StepPanel({ step, shown, run, isOver, onChoose, onClose }: StepPanelProps) {
  const t = useText(text)
  const { state, results, problems } = shown
  return (
    <Panel
      title={
        <>
          {step.id} <span className="type">{step.type}</span>
        </>
      }
      onClose={onClose}
    >
      <div className="step-panel">
        {state && <Status tone={tones[state]}>{t.states[state]}</Status>}
        {problems.map(({ field, issue }) => (
          <p key={`${field} ${issue}`} className="error">
            {field} {issue}
          </p>
        ))}
        {run && results.length === 0 && <p className="hint">{isOver ? t.didNotRun : t.notBegun}</p>}
        {run && results.length > 0 && <Results run={run} results={results} />}
        <h3>{t.settings}</h3>
        <CodeBlock label={t.settings} text={JSON.stringify(step.data, undefined, 2)} />
        <h3>{t.follows}</h3>
        <p className="follows">
          {step.follows.length === 0 && t.ends}
          {step.follows.map(({ target, exit }) => (
            <span key={`${exit} ${target}`}>
              {exit === undefined ? t.next : `${t.exits[exit] ?? exit}:`}{' '}
              <button type="button" className="link" onClick={() => onChoose(target)}>
                {target}
              </button>
            </span>
          ))}
        </p>
      </div>
    </Panel>
  )
}

const shownAtOnce = 100

/** The result of a step; for a step in a loop all results, failed ones first, with one of them open. */
function Results({ run, results }: { run: Execution; results: readonly TimedResult[] }) {
  const t = useText(text)
  const [path, setPath] = useState<string>()
  const [count, setCount] = useState(shownAtOnce)
  const sorted = iterationsOf(results)
  const open = sorted.find(result => result.path === path) ?? sorted[0]
  const failed = results.filter(({ status }) => status === 'errored').length
  const isLoop = results.some(result => result.path !== '')
  return (
    <>
      {isLoop && (
        <>
          <h3>{t.iterations(results.length, failed)}</h3>
          <List
            label={t.iterations(results.length, failed)}
            rows={sorted.slice(0, count)}
            total={sorted.length}
            error={null}
            loadMore={count < sorted.length ? () => setCount(count + shownAtOnce) : undefined}
            keyOf={result => result.path}
            empty={null}
            columns={[
              {
                title: t.item,
                cell: result => (
                  <button
                    type="button"
                    className="link"
                    aria-pressed={result === open}
                    onClick={() => setPath(result.path)}
                  >
                    {t.iteration(result.path)}
                  </button>
                ),
              },
              {
                title: t.status,
                cell: ({ status }) => <Status tone={tones[status]}>{t.states[status]}</Status>,
              },
              { title: t.output, cell: ({ error, output }) => cut(error ?? JSON.stringify(output), 80) },
            ]}
          />
        </>
      )}
      {open && <Result key={open.path} run={run} result={open} />}
    </>
  )
}

function Result({ run, result }: { run: Execution; result: TimedResult }) {
  const t = useText(text)
  const agent = useAgent()
  const retry = useRetry(run)
  const [isWhole, setWhole] = useState(false)
  const whole = useQuery({
    ...query(getNodeResult(agent, run.id, result)),
    enabled: isWhole,
  })
  const { input, output } = whole.data ?? result
  const isCut = result.truncated || (result.status === 'complete' && (input === null || output === null))
  const isOpen = run.completed_at === null
  return (
    <>
      <p className="facts">
        {result.path !== '' && <b>{t.iteration(result.path)}</b>}
        <Time at={result.started_at} />
        <span className="num">{formatDuration(result.duration_ms)}</span>
        {result.attempts > 1 && <span>{t.attempts(result.attempts)}</span>}
      </p>
      {questionOf(result) !== undefined && agent.may('change') && <Decision run={run} result={result} />}
      {result.error !== null && (
        <>
          <h3>{t.error}</h3>
          <p className="error">{result.error}</p>
        </>
      )}
      {result.warnings.map(warning => (
        <p key={warning} className="hint">
          {warning}
        </p>
      ))}
      <h3>{t.input}</h3>
      <CodeBlock label={t.input} text={JSON.stringify(input, undefined, 2)} />
      <h3>{t.output}</h3>
      <CodeBlock label={t.output} text={JSON.stringify(output, undefined, 2)} />
      <div className="actions">
        {isCut && whole.data === undefined && (
          <Button disabled={whole.isFetching} onClick={() => setWhole(true)}>
            {t.whole}
          </Button>
        )}
        {!isOpen && result.path === '' && agent.may('change') && (
          <Button icon="refresh" disabled={retry.isPending} onClick={() => retry.start(result.node_id)}>
            {t.fromHere}
          </Button>
        )}
      </div>
      {whole.error && <p className="error">{whole.error.message}</p>}
    </>
  )
}
