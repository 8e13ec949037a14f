import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { query } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { Parts } from '#console/shell/parts.tsx'
import { Problem } from '#console/ui/empty.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { Progress } from '#console/ui/progress.tsx'
import { getSource, isPdf } from './requests.ts'
import { text } from './text.ts'
import { TextDocument } from './text-document.tsx'
import './document.css'

// pdf.js is by far the largest part of the console, so it is loaded when a PDF is opened.
const PdfDocument = lazy(() => import('./pdf-document.tsx'))

/** A document in a panel, with a passage marked if its place is certain. */
export default function DocumentPart(props: Parts['document']) {
  const t = useText(text)
  const agent = useAgent()
  const { data: source, error } = useQuery(query(getSource(agent, props.sourceId)))
  const { page, url } = props
  return (
    <Panel
      title={
        <>
          {source?.name.slice(0, 200) ?? t.document}
          {page != null && <span className="hint"> {t.page(page)}</span>}
        </>
      }
      onClose={props.onClose}
    >
      {error && <Problem error={error} />}
      {source && (
        <div className="document">
          {url != null && <p className="hint address">{url}</p>}
          {isPdf(source) && page != null ? (
            <Suspense fallback={<Progress label={t.opening} />}>
              <PdfDocument
                key={JSON.stringify([source.id, page, props.start])}
                {...props}
                source={source}
                page={page}
              />
            </Suspense>
          ) : (
            <TextDocument key={JSON.stringify([source.id, url, props.start])} {...props} source={source} />
          )}
        </div>
      )}
    </Panel>
  )
}
