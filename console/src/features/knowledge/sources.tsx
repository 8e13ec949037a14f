import { useNavigate } from '@tanstack/react-router'
import { listQuery, queryClient, useRows } from '#console/api/query.ts'
import { useStore } from '#console/api/store.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { LoadContext, SearchOf, ViewProps } from '#console/shell/view.ts'
import { LinkButton } from '#console/ui/button.tsx'
import { Empty } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { type Column, List } from '#console/ui/list.tsx'
import { Menu } from '#console/ui/menu.tsx'
import { Num } from '#console/ui/number.tsx'
import { Segments } from '#console/ui/tabs.tsx'
import { Time } from '#console/ui/time.tsx'
import { type Addable, AddSource } from './add-source.tsx'
import { sourcesSearch } from './feature.ts'
import { listSources, type Source } from './requests.ts'
import { removedSources, SourceActions } from './source-actions.tsx'
import { SourceState } from './source-state.tsx'
import { type en, text } from './text.ts'
import { Uploads } from './upload-list.tsx'
import './knowledge.css'

export const prefetch = ({ agent }: LoadContext) =>
  queryClient.prefetchInfiniteQuery(listQuery<Source>(listSources(agent), 'sources'))

type Search = SearchOf<typeof sourcesSearch>

/** All sources of the agent's answers. */
export default function Sources({ search }: ViewProps<never, typeof sourcesSearch>) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const { show = 'all', find, add } = search
  const go = (next: Search) => void navigate({ to: '.', search: next, replace: true })
  const removed = useStore(removedSources)
  const list = useRows<Source>(
    listSources(agent, {
      ...(show === 'failed' ? { status: 'error' } : show !== 'all' && { type: show }),
      ...(find && { search: find }),
    }),
    'sources',
  )
  const rows = list.rows?.filter(({ id }) => !removed.has(id))
  const mayChange = agent.may('change')
  const isFiltered = show !== 'all' || find !== undefined
  const hasAny = isFiltered || list.total === undefined || list.total > 0

  return (
    <div className="page">
      <Heading title={t.sources} detail={list.total !== undefined && <Num value={list.total} />}>
        {hasAny && (
          <LinkButton to={`${agent.home}/knowledge/test`} icon="search">
            {t.test}
          </LinkButton>
        )}
        {mayChange && <AddMenu onAdd={type => go({ ...search, add: type })} />}
      </Heading>
      {mayChange && <Uploads />}
      {hasAny && <Filters search={search} onGo={go} />}
      <div className="source-list">
        <List
          {...list}
          rows={rows}
          label={t.sources}
          columns={columnsOf(t)}
          keyOf={({ id }) => id}
          linkOf={({ id }) => `${agent.home}/knowledge/${encodeURIComponent(id)}`}
          empty={
            isFiltered ? (
              <Empty title={t.noneFound} text={t.noneFoundText} />
            ) : (
              <Empty title={t.none} text={mayChange && t.noneText} />
            )
          }
        />
      </div>
      {mayChange && add !== undefined && (
        <AddSource
          type={add}
          onClose={() => {
            const { add: _, ...rest } = search
            go(rest)
          }}
        />
      )}
    </div>
  )
}

function columnsOf(t: typeof en): Column<Source>[] {
  return [
    {
      title: t.name,
      cell: ({ name, type }) => (
        <>
          <b>{name.slice(0, 200)}</b> <span className="hint">{t.types[type]}</span>
        </>
      ),
    },
    { title: t.state, cell: source => <SourceState source={source} /> },
    {
      title: t.passages,
      isAtEnd: true,
      cell: ({ chunks }) => chunks !== undefined && <Num value={chunks} />,
    },
    { title: t.added, cell: ({ created_at }) => <Time at={created_at} /> },
    {
      title: t.actions,
      isTitleHidden: true,
      isAtEnd: true,
      cell: source => <SourceActions source={source} />,
    },
  ]
}

function AddMenu({ onAdd }: { onAdd(type: Addable): void }) {
  const t = useText(text)
  return (
    <Menu
      button={{ icon: 'plus', kind: 'primary', children: t.add }}
      items={[
        { label: t.addCrawl, icon: 'globe', run: () => onAdd('crawl') },
        { label: t.addDatabase, icon: 'database', run: () => onAdd('database') },
        { label: t.addApi, icon: 'link', run: () => onAdd('api') },
      ]}
    />
  )
}

function Filters({ search, onGo }: { search: Search; onGo(search: Search): void }) {
  const t = useText(text)
  const { show = 'all', find, ...rest } = search
  return (
    <div className="filters">
      <Segments
        label={t.show}
        segments={sourcesSearch.show.map(name => ({ name, title: t.filters[name] }))}
        chosen={show}
        onChoose={name => onGo({ ...search, show: name })}
      />
      <input
        className="input"
        type="search"
        aria-label={t.find}
        placeholder={t.find}
        defaultValue={find}
        maxLength={500}
        onChange={({ target }) => onGo({ ...rest, show, ...(target.value !== '' && { find: target.value }) })}
      />
    </div>
  )
}
