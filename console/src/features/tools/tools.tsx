import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { listQuery, queryClient, useRows } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { LoadContext, SearchOf, ViewProps } from '#console/shell/view.ts'
import { Button, LinkButton } from '#console/ui/button.tsx'
import { Empty } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { SearchField } from '#console/ui/search-field.tsx'
import { Segments } from '#console/ui/tabs.tsx'
import { BuiltIns } from './built-ins.tsx'
import { kinds, type toolsSearch } from './feature.ts'
import { type AgentTool, listTools } from './requests.ts'
import { text } from './text.ts'
import { ToolList } from './tool-list.tsx'

export const prefetch = ({ agent }: LoadContext) =>
  queryClient.prefetchInfiniteQuery(listQuery<AgentTool>(listTools(agent), 'data'))

/** The tools of an agent, which models may call. */
export default function Tools({ search: { search, type } }: ViewProps<never, typeof toolsSearch>) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const filters = { ...(search && { search }), ...(type && { type }) }
  const rows = useRows<AgentTool>(listTools(agent, filters), 'data')
  const filter = useCallback(
    (next: SearchOf<typeof toolsSearch>) => void navigate({ to: '.', search: next, replace: true }),
    [navigate],
  )
  const onSearch = useCallback(
    (words: string) => filter({ ...(words !== '' && { search: words }), type }),
    [filter, type],
  )
  const isFiltered = Object.keys(filters).length > 0
  const isEmpty = rows.total === 0 && !isFiltered
  const adding = agent.may('change') && (
    <>
      <LinkButton to={`${agent.home}/tools/import`} icon="upload">
        {t.import}
      </LinkButton>
      <LinkButton to={`${agent.home}/tools/new`} kind="primary" icon="plus">
        {t.add}
      </LinkButton>
    </>
  )
  return (
    <div className="page">
      <Heading detail={rows.total !== undefined && t.count(rows.total)}>{!isEmpty && adding}</Heading>
      {!isEmpty && (
        <div className="filters">
          <SearchField label={t.search} value={search ?? ''} onSearch={onSearch} />
          <Segments
            label={t.type}
            chosen={type ?? 'all'}
            segments={[{ name: 'all', title: t.all }, ...kinds.map(name => ({ name, title: t.kinds[name] }))]}
            onChoose={name => filter({ search, type: kinds.find(kind => kind === name) })}
          />
        </div>
      )}
      <ToolList
        rows={rows}
        empty={
          isFiltered ? (
            <Empty title={t.noMatch} text={t.noMatchText}>
              <Button onClick={() => filter({})}>{t.showAll}</Button>
            </Empty>
          ) : (
            <Empty title={t.none} text={t.noneText}>
              {adding}
            </Empty>
          )
        }
      />
      <BuiltIns />
    </div>
  )
}
