import { useText } from '#console/i18n/text.ts'
import { Icon } from '#console/ui/icon.tsx'
import { Status } from '#console/ui/status.tsx'
import { icons } from './graph.tsx'
import { summaryOf } from './steps.ts'
import { text } from './text.ts'
import { tones } from './timeline.ts'
import type { StepsProps } from './workflow.tsx'

/** A workflow as numbered steps, each with its successors: the same content as the graph. */
export function Outline({ steps, shownOf, chosen, onChoose }: StepsProps) {
  const t = useText(text)
  const numbers = new Map(steps.map(({ id }, at) => [id, at + 1]))
  return (
    <ol className="outline" aria-label={t.outline}>
      {steps.map(step => {
        const { state, problems } = shownOf(step.id)
        const summary = summaryOf(step)
        return (
          <li key={step.id} className="card" style={{ marginInlineStart: `${step.depth * 20}px` }}>
            <button
              type="button"
              className="step-line"
              aria-pressed={step.id === chosen}
              onClick={() => onChoose(step.id)}
            >
              <span className="num">{numbers.get(step.id)}</span>
              <Icon name={icons[step.type] ?? 'more'} />
              <b>{step.id}</b>
              <span className="type">{step.type}</span>
              {state && <Status tone={tones[state]}>{t.states[state]}</Status>}
            </button>
            {summary !== '' && <p className="summary">{summary}</p>}
            {problems.map(({ field, issue }) => (
              <p key={`${field} ${issue}`} className="error">
                {field} {issue}
              </p>
            ))}
            <p className="follows">
              {step.follows.length === 0 && t.ends}
              {step.follows.map(({ target, exit }) => (
                <span key={`${exit} ${target}`}>
                  {exit === undefined ? t.next : `${t.exits[exit] ?? exit}:`}{' '}
                  <button type="button" className="link" onClick={() => onChoose(target)}>
                    {numbers.get(target)} {target}
                  </button>
                </span>
              ))}
            </p>
          </li>
        )
      })}
    </ol>
  )
}
