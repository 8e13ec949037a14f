import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { query, queryClient } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Part } from '#console/shell/parts.tsx'
import type { LoadContext, SearchOf, ViewProps } from '#console/shell/view.ts'
import { Button, LinkButton } from '#console/ui/button.tsx'
import { CodeBlock } from '#console/ui/code.tsx'
import { Empty, Problem } from '#console/ui/empty.tsx'
import { SelectField } from '#console/ui/field.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { Num } from '#console/ui/number.tsx'
import { Time } from '#console/ui/time.tsx'
import type { sourceSearch } from './feature.ts'
import { type DocumentText, failedPagesOf, fileNameOf, getSource, getText, type Source } from './requests.ts'
import { SourceActions } from './source-actions.tsx'
import { SourceState } from './source-state.tsx'
import { text } from './text.ts'
import './knowledge.css'

export const prefetch = ({ agent, params: { sourceId } }: LoadContext<'sourceId'>) =>
  queryClient.prefetchQuery(query(getSource(agent, sourceId)))

type Search = SearchOf<typeof sourceSearch>

/** A source: its indexing, its errors and its passages. */
export default function SourceView({
  params: { sourceId },
  search,
}: ViewProps<'sourceId', typeof sourceSearch>) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const { data: source, error } = useQuery(query(getSource(agent, sourceId)))
  const urls = source ? pagesOf(source) : []
  const isCrawl = source?.type === 'crawl'
  const url = isCrawl ? (search.url ?? urls[0]) : undefined
  const { data: document, error: textError } = useQuery({
    ...query(getText(agent, sourceId, { url, start: search.from ?? 0 })),
    enabled: source !== undefined && (!isCrawl || url !== undefined),
  })
  if (error && source === undefined) return <Problem error={error} />
  if (source === undefined) return null
  const go = (next: Search) => void navigate({ to: '.', search: next, replace: true })
  const opened = document?.passages.find(({ start }) => start === search.at)
  const close = () => {
    const { at: _, ...rest } = search
    go(rest)
  }
  return (
    <div className="with-panel">
      <div className="page">
        <Heading title={source.name.slice(0, 200)} detail={<SourceState source={source} />}>
          <LinkButton to={`${agent.home}/knowledge`} icon="previous" kind="quiet">
            {t.back}
          </LinkButton>
          <LinkButton
            to={`${agent.home}/knowledge/test?source=${encodeURIComponent(source.id)}`}
            icon="search"
          >
            {t.test}
          </LinkButton>
          <SourceActions source={source} onRemove={() => void navigate({ to: `${agent.home}/knowledge` })} />
        </Heading>
        <Failure source={source} />
        <Facts source={source} />
        <FailedPages source={source} />
        {urls.length > 0 && (
          <SelectField
            label={t.webPage}
            value={url ?? ''}
            onChange={chosen => go({ url: chosen })}
            choices={urls.map(one => ({ value: one, label: one.slice(0, 200) }))}
          />
        )}
        {textError && <Problem error={textError} />}
        {document && <Passages document={document} search={search} onGo={go} />}
        {isCrawl && url === undefined && <Empty title={t.noPassages} text={t.noPassagesText} />}
      </div>
      {opened && (
        <Part
          name="document"
          key={opened.id}
          sourceId={source.id}
          {...opened}
          url={url ?? null}
          onClose={close}
        />
      )}
    </div>
  )
}

/** Returns the pages of a website that were read. */
const pagesOf = ({ config }: Source) => Object.keys(('pageHashes' in config && config.pageHashes) || {})

function Failure({ source: { status, error } }: { source: Source }) {
  const t = useText(text)
  if (status !== 'error') return null
  return (
    <section className="card failure" aria-label={t.failed}>
      <h2>{t.failed}</h2>
      <p className="error">{error}</p>
      <p className="hint">{t.failedHelp}</p>
    </section>
  )
}

function Facts({ source }: { source: Source }) {
  const t = useText(text)
  const { config, chunks, updated_at } = source
  const facts: [string, ReactNode][] = [
    [t.fileName, fileNameOf(source)],
    [t.startPage, 'url' in config && config.url],
    [
      t.pageCount,
      'pageCount' in config && config.pageCount !== undefined && <Num value={config.pageCount} />,
    ],
    [t.passages, chunks !== undefined && <Num value={chunks} />],
    [t.crawled, 'lastCrawledAt' in config && config.lastCrawledAt && <Time at={config.lastCrawledAt} />],
    [t.fetched, 'fetched_at' in config && config.fetched_at && <Time at={config.fetched_at} />],
    [t.notRead, source.warnings?.map(warning => <p key={warning}>{warning}</p>)],
    [t.changed, <Time key="changed" at={updated_at} />],
    [t.chunking, config.chunk_size !== undefined && t.chunkingOf(config.chunk_size, config.overlap ?? 0)],
  ]
  return (
    <section className="card facts" aria-label={t.about}>
      <dl>
        {facts
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      {'query' in config && <CodeBlock label={t.statement} text={config.query} />}
    </section>
  )
}

function FailedPages({ source }: { source: Source }) {
  const t = useText(text)
  const failed = failedPagesOf(source)
  if (failed.length === 0) return null
  return (
    <details className="card failed-pages">
      <summary>
        {t.failedPages} (<Num value={failed.length} />)
      </summary>
      <dl>
        {failed.map(({ url, reason }) => (
          <div key={url}>
            <dt>{url}</dt>
            <dd className="hint">{reason}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

const excerptLength = 300

interface PassagesProps {
  document: DocumentText
  search: Search
  onGo(search: Search): void
}

function Passages({ document, search, onGo }: PassagesProps) {
  const t = useText(text)
  const { text: whole, start, end, length, passages } = document
  if (length === 0) return <Empty title={t.noPassages} text={t.noPassagesText} />
  return (
    <section className="passages">
      <h2>{t.passages}</h2>
      <ol start={1}>
        {passages.map((passage, index) => (
          <li
            key={passage.id}
            className="card passage"
            aria-current={passage.start === search.at || undefined}
          >
            <div className="hint">
              {[passage.page !== null && t.page(passage.page), passage.section?.slice(0, 200)]
                .filter(Boolean)
                .join(' · ')}
            </div>
            <p dir="auto">
              {whole.slice(Math.max(0, passage.start - start), passage.end - start).slice(0, excerptLength)}
              {passage.end - passage.start > excerptLength && '…'}
            </p>
            <Button
              className="open"
              kind="quiet"
              icon="file"
              label={t.openPassage(index + 1)}
              onClick={() => onGo({ ...search, at: passage.start })}
            />
          </li>
        ))}
      </ol>
      <div className="actions">
        {start > 0 && (
          <Button onClick={() => onGo({ ...search, from: Math.max(0, start - 100_000) })}>
            {t.previousPart}
          </Button>
        )}
        {end < length && <Button onClick={() => onGo({ ...search, from: end })}>{t.nextPart}</Button>}
      </div>
    </section>
  )
}
