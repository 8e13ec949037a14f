import { formatNumber } from '#console/i18n/format.ts'
import { useText } from '#console/i18n/text.ts'
import { CodeBlock } from '#console/ui/code.tsx'
import { Icon, type IconName } from '#console/ui/icon.tsx'
import type { Step } from './answer.ts'
import { ApprovalButtons } from './approval.tsx'
import { text } from './text.ts'

type State = keyof ReturnType<typeof text.current>['state']

const icons: Record<State, IconName> = { runs: 'clock', done: 'check', failed: 'warning', waits: 'shield' }

function stateOf({ result }: Step, isOver: boolean): State {
  if (result === undefined) return isOver ? 'failed' : 'runs'
  if (result.approval === 'required') return 'waits'
  return result.error === undefined ? 'done' : 'failed'
}

interface StepsProps {
  steps: readonly Step[]
  isOver: boolean
  /** True if the turn itself waits: its call is shown by its answer. */
  isParked?: boolean
}

/** An answer's tool calls with arguments, result and time; waiting ones have buttons to decide them. */
export function Steps({ steps, isOver, isParked = false }: StepsProps) {
  const t = useText(text)
  if (steps.length === 0) return null
  const waiting = isParked ? [] : steps.filter(({ result }) => result?.approval === 'required')
  return (
    <>
      <ul className="tool-steps" aria-label={t.steps}>
        {steps.map(step => (
          <li key={step.call.id}>
            <OneStep step={step} state={stateOf(step, isOver && !isParked)} />
          </li>
        ))}
      </ul>
      {waiting.map(({ call }) => (
        <ApprovalButtons key={call.id} call={call} isReady={isOver} />
      ))}
    </>
  )
}

const shownInLine = 200

function OneStep({ step, state }: { step: Step; state: State }) {
  const t = useText(text)
  const { call, result, tookMs } = step
  return (
    <details>
      <summary>
        <span className={`mark ${state}`}>
          <Icon name={icons[state]} />
          <span className="sr">{t.state[state]}</span>
        </span>
        <span className="tool">{call.name}</span>
        <code>{JSON.stringify(call.arguments).slice(0, shownInLine)}</code>
        {tookMs !== undefined && (
          <span className="num">{t.milliseconds(formatNumber(Math.round(tookMs)))}</span>
        )}
      </summary>
      <div className="values">
        <h3>{t.arguments}</h3>
        <CodeBlock
          label={`${t.arguments}: ${call.name}`}
          text={JSON.stringify(call.arguments, undefined, 2)}
        />
        {result?.coerced && (
          <p className="hint">
            {t.coerced} {result.coerced.join(' ')}
          </p>
        )}
        {result !== undefined && (
          <>
            <h3>{t.result}</h3>
            {result.error === undefined ? (
              <CodeBlock label={`${t.result}: ${call.name}`} text={written(result.result)} />
            ) : (
              <p className="error">{result.error}</p>
            )}
          </>
        )}
      </div>
    </details>
  )
}

const written = (value: unknown) =>
  typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '')
