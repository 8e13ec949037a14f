import { useQuery } from '@tanstack/react-query'
import type { PDFDocumentProxy } from 'pdfjs-dist'
import { useEffect, useMemo, useRef, useState } from 'react'
import { open } from '#console/api/client.ts'
import { query } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { Parts } from '#console/shell/parts.tsx'
import { Button } from '#console/ui/button.tsx'
import { Problem } from '#console/ui/empty.tsx'
import { Progress } from '#console/ui/progress.tsx'
import { Finding } from './finding.tsx'
import { locate } from './locate.ts'
import { passageIn } from './passage.ts'
import { openPdf, readPage } from './pdf.ts'
import { type DocumentText, getFile, getText, type Source } from './requests.ts'
import { text } from './text.ts'

/** More UTF-16 units than a page has before or after a passage. */
const around = 12_000

/** A page of a PDF with the passage marked, and the pages before and after it. */
export default function PdfDocument(props: Parts['document'] & { source: Source; page: number }) {
  const t = useText(text)
  const agent = useAgent()
  const { source, start, end, page: cited } = props
  const isCited = props.passage !== undefined || end !== undefined
  const [page, setPage] = useState(cited)
  const file = useQuery({
    queryKey: ['pdf', source.id, source.updated_at],
    queryFn: () =>
      openPdf(`${source.id} ${source.updated_at}`, async () =>
        (await open(getFile(agent, source.id))).arrayBuffer(),
      ),
    // The document lives in the worker, which keeps only the latest.
    gcTime: 0,
    staleTime: 0,
  })
  const extracted = useQuery({
    ...query(
      getText(agent, source.id, { start: Math.max(0, (start ?? 0) - around), end: (end ?? 0) + around }),
    ),
    enabled: end !== undefined,
  })
  const wanted = useMemo(
    () => (isCited && page === cited ? aroundOnPage(extracted.data, props) : undefined),
    [isCited, page, cited, extracted.data, props],
  )
  const error = file.error ?? extracted.error
  if (error) return <Problem error={error} />
  const isWaiting = file.data === undefined || (end !== undefined && extracted.data === undefined)
  if (isWaiting || file.data === undefined) return <Progress label={t.opening} />
  const pages = file.data.numPages
  const passage = wanted?.text.slice(wanted.start, wanted.end)
  return (
    <>
      <div className="pages">
        <Button
          kind="quiet"
          icon="previous"
          label={t.previousPage}
          disabled={page <= 1}
          onClick={() => setPage(page - 1)}
        />
        <span className="num">{t.pageOf(page, pages)}</span>
        <Button
          kind="quiet"
          icon="next"
          label={t.nextPage}
          disabled={page >= pages}
          onClick={() => setPage(page + 1)}
        />
        {isCited && page !== cited && (
          <Button kind="quiet" onClick={() => setPage(cited)}>
            {t.backToPassage}
          </Button>
        )}
      </div>
      {isCited && page === cited && wanted === undefined && <Finding tone="warn">{t.moved}</Finding>}
      {page <= pages ? (
        <PdfPage key={page} document={file.data} page={page} name={source.name} wanted={wanted} />
      ) : (
        <p className="error">{t.noPage(page, pages)}</p>
      )}
      {passage && (
        <details>
          <summary>{t.passageText}</summary>
          <blockquote className="extracted" dir="auto">
            {passage}
          </blockquote>
        </details>
      )}
    </>
  )
}

interface Around {
  text: string
  /** The place of the passage in the text. */
  start: number
  end: number
}

/** Returns the text around a passage on its page; undefined if the document was read again since. */
function aroundOnPage(data: DocumentText | undefined, props: Parts['document']): Around | undefined {
  const found = data && passageIn(data, props)
  if (data === undefined || found === undefined) {
    const { passage } = props
    return passage === undefined ? undefined : { text: passage, start: 0, end: passage.length }
  }
  const onPage = data.passages.filter(({ page }) => page === props.page)
  const first = Math.max(data.start, Math.min(found.start, ...onPage.map(({ start }) => start)))
  const last = Math.min(data.end, Math.max(found.end, ...onPage.map(({ end }) => end)))
  return {
    text: data.text.slice(first - data.start, last - data.start),
    start: found.start - first,
    end: found.end - first,
  }
}

interface PdfPageProps {
  document: PDFDocumentProxy
  page: number
  name: string
  wanted: Around | undefined
}

interface Drawn {
  width: number
  height: number
  /** Undefined if no passage is searched. */
  share: number | undefined
  outlines: number[][][]
}

/** The drawn width of a page (px): sharp on screens of double density. */
const drawnWidth = 1240

function PdfPage({ document, page: number, name, wanted }: PdfPageProps) {
  const t = useText(text)
  const canvas = useRef<HTMLCanvasElement>(null)
  const marks = useRef<SVGSVGElement>(null)
  const [drawn, setDrawn] = useState<Drawn>()
  const [error, setError] = useState<Error>()
  useEffect(() => {
    let isShown = true
    let stop = () => {}
    async function draw() {
      const page = await document.getPage(number)
      const { width, height } = page.getViewport({ scale: 1 })
      const { items, outline } = await readPage(page)
      if (!isShown || canvas.current === null) return
      const strings = items.map(({ str }) => str)
      const found = wanted && locate(strings, wanted.text, wanted)
      setDrawn({ width, height, share: found?.share, outlines: outline(found?.marks ?? []) })
      const viewport = page.getViewport({ scale: drawnWidth / width })
      canvas.current.width = viewport.width
      canvas.current.height = viewport.height
      const task = page.render({ canvas: canvas.current, viewport })
      stop = () => task.cancel()
      await task.promise
    }
    draw().catch(
      failure => isShown && setError(failure instanceof Error ? failure : new Error(String(failure))),
    )
    return () => {
      isShown = false
      stop()
    }
  }, [document, number, wanted])
  const hasMarks = (drawn?.outlines.length ?? 0) > 0
  useEffect(() => {
    if (hasMarks) marks.current?.firstElementChild?.scrollIntoView({ block: 'center' })
  }, [hasMarks])
  if (error) return <Problem error={error} />
  return (
    <>
      {drawn?.share !== undefined &&
        (hasMarks ? (
          <Finding tone="good">{t.foundShare(drawn.share)}</Finding>
        ) : (
          <Finding tone="warn">{t.notFound}</Finding>
        ))}
      <div className="sheet" style={drawn && { aspectRatio: `${drawn.width} / ${drawn.height}` }}>
        <canvas ref={canvas} role="img" aria-label={`${name}, ${t.page(number)}`} />
        {drawn && (
          <svg ref={marks} viewBox={`0 0 ${drawn.width} ${drawn.height}`} aria-hidden="true">
            {drawn.outlines.map(corners => (
              <polygon key={corners.join(' ')} points={corners.join(' ')} />
            ))}
          </svg>
        )}
      </div>
    </>
  )
}
