import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { query } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { Parts } from '#console/shell/parts.tsx'
import { Button } from '#console/ui/button.tsx'
import { Problem } from '#console/ui/empty.tsx'
import { Finding } from './finding.tsx'
import { passageIn } from './passage.ts'
import { getText, type Source } from './requests.ts'
import { text } from './text.ts'

/** Number of UTF-16 units before and after a passage, and of each further step. */
const step = 20_000

/** The extracted text around a passage, which is marked; without one, the beginning. */
export function TextDocument(props: Parts['document'] & { source: Source }) {
  const t = useText(text)
  const agent = useAgent()
  const { source, url, start = 0, end = start } = props
  const [shown, setShown] = useState({ start: Math.max(0, start - step), end: end + step })
  const { data, error } = useQuery({
    ...query(getText(agent, source.id, { url: url ?? undefined, ...shown })),
    placeholderData: before => before,
  })
  const mark = useRef<HTMLElement>(null)
  const isLoaded = data !== undefined
  useEffect(() => {
    if (isLoaded) mark.current?.scrollIntoView({ block: 'center' })
  }, [isLoaded])
  if (error) return <Problem error={error} />
  if (data === undefined) return null
  const passage = passageIn(data, props)
  const [from, to] = passage ? [passage.start - data.start, passage.end - data.start] : [0, 0]
  return (
    <>
      {props.end !== undefined &&
        (passage ? <Finding tone="good">{t.marked}</Finding> : <Finding tone="warn">{t.moved}</Finding>)}
      {data.length === 0 && <p className="hint">{t.noText}</p>}
      {data.start > 0 && (
        <Button
          kind="quiet"
          icon="up"
          onClick={() => setShown({ ...shown, start: Math.max(0, data.start - step) })}
        >
          {t.earlier}
        </Button>
      )}
      <div className="extracted" dir="auto">
        {data.text.slice(0, from)}
        {passage && <mark ref={mark}>{data.text.slice(from, to)}</mark>}
        {data.text.slice(to)}
      </div>
      {data.end < data.length && (
        <Button kind="quiet" icon="down" onClick={() => setShown({ ...shown, end: data.end + step })}>
          {t.later}
        </Button>
      )}
    </>
  )
}
