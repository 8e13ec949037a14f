import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { query } from '#console/api/query.ts'
import { formatNumber } from '#console/i18n/format.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Part } from '#console/shell/parts.tsx'
import type { SearchOf, ViewProps } from '#console/shell/view.ts'
import { Button, LinkButton } from '#console/ui/button.tsx'
import { Empty, Problem } from '#console/ui/empty.tsx'
import { SelectField, TextField } from '#console/ui/field.tsx'
import { Heading } from '#console/ui/heading.tsx'
import type { questionSearch } from './feature.ts'
import { nameSources, type SearchResult, searchSources } from './requests.ts'
import { text } from './text.ts'
import './knowledge.css'

type Search = SearchOf<typeof questionSearch>

/** A place of a result: its own, or that of a duplicate. */
type Place = Pick<SearchResult['metadata'], 'source_name' | 'page' | 'section' | 'start' | 'end' | 'url'> & {
  id: string
  source_id: string
}

/** A tester that shows the passages that a question finds, with their scores. */
export default function QuestionTester({ search }: ViewProps<never, typeof questionSearch>) {
  const t = useText(text)
  const agent = useAgent()
  const { q, limit = 10, score, source } = search
  const found = useQuery({
    ...query(
      searchSources(agent, {
        query: q ?? '',
        limit,
        ...(score !== undefined && { min_score: score }),
        ...(source !== undefined && { source_id: [source] }),
      }),
    ),
    enabled: q !== undefined,
  })
  const [opened, setOpened] = useState<Place & { passage?: string }>()
  const results = found.data?.results
  return (
    <div className="with-panel">
      <div className="page tester">
        <Heading title={t.test} detail={t.questionHint}>
          <LinkButton to={`${agent.home}/knowledge`} icon="previous" kind="quiet">
            {t.back}
          </LinkButton>
        </Heading>
        <QuestionForm key={JSON.stringify(search)} search={search} />
        <p role="status" className="hint">
          {results && t.resultCount(results.length)}
        </p>
        {found.error && <Problem error={found.error} />}
        {results?.length === 0 && <Empty title={t.noResults} text={t.noResultsText} />}
        <ol className="results" aria-label={t.results}>
          {results?.map(result => (
            <Result key={result.id} result={result} onOpen={setOpened} />
          ))}
        </ol>
      </div>
      {opened && (
        <Part
          name="document"
          key={opened.id}
          sourceId={opened.source_id}
          id={opened.id}
          url={opened.url ?? null}
          page={opened.page}
          start={opened.start}
          end={opened.end}
          {...(opened.passage !== undefined && { passage: opened.passage })}
          onClose={() => setOpened(undefined)}
        />
      )}
    </div>
  )
}

function QuestionForm({ search }: { search: Search }) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const [question, setQuestion] = useState(search.q ?? '')
  const [limit, setLimit] = useState(String(search.limit ?? 10))
  const [score, setScore] = useState(String(search.score ?? 0))
  const [source, setSource] = useState(search.source ?? '')
  const { data } = useQuery(query(nameSources(agent)))
  const choices = (data?.sources ?? []).map(({ id, name }) => ({ value: id, label: name.slice(0, 200) }))

  function send(event: FormEvent) {
    event.preventDefault()
    const next: Search = { q: question }
    if (limit !== '' && limit !== '10') next.limit = Number(limit)
    if (Number(score) > 0) next.score = Number(score)
    if (source !== '') next.source = source
    void navigate({ to: '.', search: next })
  }

  return (
    <form className="question" onSubmit={send}>
      <TextField
        label={t.question}
        value={question}
        onChange={setQuestion}
        isRequired
        limits={{ maxLength: 10_000 }}
      />
      <div className="options">
        <SelectField
          label={t.within}
          value={source}
          onChange={setSource}
          choices={[{ value: '', label: t.everywhere }, ...choices]}
        />
        <TextField
          label={t.limit}
          type="number"
          value={limit}
          onChange={setLimit}
          limits={{ min: 1, max: 1000 }}
        />
        <TextField
          label={t.minScore}
          type="number"
          value={score}
          onChange={setScore}
          limits={{ min: 0, max: 1, step: 'any' }}
        />
        <Button type="submit" kind="primary" icon="search">
          {t.search}
        </Button>
      </div>
    </form>
  )
}

const shownLength = 1000

function Result({
  result: { id, source_id, content, score, metadata },
  onOpen,
}: {
  result: SearchResult
  onOpen(place: Place & { passage?: string }): void
}) {
  const t = useText(text)
  const place: Place = { id, source_id, ...metadata }
  return (
    <li className="card result">
      <header>
        <h3>
          <PlaceName place={place} />
        </h3>
        <span className="score">
          <meter min={0} max={1} value={score} aria-label={t.score} />
          <span className="num">{formatNumber(Math.round(score * 100) / 100)}</span>
        </span>
      </header>
      {metadata.url && <p className="hint">{metadata.url}</p>}
      <p className="extracted" dir="auto">
        {content.slice(0, shownLength)}
        {content.length > shownLength && '…'}
      </p>
      <footer>
        {metadata.duplicates && metadata.duplicates.length > 0 && (
          <span className="hint">
            {t.alsoIn}{' '}
            {metadata.duplicates.slice(0, 10).map(duplicate => (
              <button key={duplicate.id} type="button" className="link" onClick={() => onOpen(duplicate)}>
                <PlaceName place={duplicate} />
              </button>
            ))}
          </span>
        )}
        <Button icon="file" onClick={() => onOpen({ ...place, passage: content })}>
          {t.open}
        </Button>
      </footer>
    </li>
  )
}

function PlaceName({ place: { source_name, page, section } }: { place: Place }) {
  const t = useText(text)
  const rest = [page !== null && t.page(page), section?.slice(0, 200)].filter(Boolean).join(' · ')
  return (
    <>
      {source_name.slice(0, 200)} <span className="hint">{rest}</span>
    </>
  )
}
