import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { query, queryClient } from '#console/api/query.ts'
import { formatDollars, formatNumber } from '#console/i18n/format.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { LoadContext, ViewProps } from '#console/shell/view.ts'
import { LinkButton } from '#console/ui/button.tsx'
import { Empty, Problem } from '#console/ui/empty.tsx'
import { List } from '#console/ui/list.tsx'
import { Num } from '#console/ui/number.tsx'
import { Progress } from '#console/ui/progress.tsx'
import { Section } from '#console/ui/section.tsx'
import { Tabs } from '#console/ui/tabs.tsx'
import type { Usage as Answer } from '#features/usage/usage.schema.ts'
import { usageSearch } from './feature.ts'
import { type Group, getSettings, getUsage, listKeys, type UsageRow } from './requests.ts'
import { text } from './text.ts'
import './usage.css'

export const prefetch = ({ agent }: LoadContext) =>
  Promise.all([
    queryClient.prefetchQuery(query(getUsage(agent, 'day'))),
    queryClient.prefetchQuery(query(getSettings(agent))),
  ])

/** The agent's usage of models this month, and its limits. */
export default function Usage({ search: { group: chosen = 'day' } }: ViewProps<never, typeof usageSearch>) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const { data, error } = useQuery(query(getUsage(agent, chosen)))
  return (
    <div className="page">
      {data && <Month usage={data} />}
      <Tabs
        label={t.usage}
        tabs={usageSearch.group.map(name => ({ name, title: t.groups[name] }))}
        chosen={chosen}
        onChoose={name => void navigate({ to: '.', search: { group: name }, replace: true })}
      >
        <Rows group={chosen} rows={data?.usage} error={error} />
      </Tabs>
    </div>
  )
}

type Sums = Answer['total']
const isPriced = ({ calls, unpriced_calls }: Sums) => calls > unpriced_calls

function Month({ usage: { from, to, total } }: { usage: Answer }) {
  const t = useText(text)
  const figures: { name: string; value: ReactNode }[] = [
    { name: t.cost, value: isPriced(total) ? formatDollars(total.cost) : t.unknown },
    {
      name: t.input,
      value: (
        <>
          <Num value={total.input_tokens} />
          {total.cached_input_tokens > 0 && (
            <span className="hint">{t.cached(formatNumber(total.cached_input_tokens))}</span>
          )}
        </>
      ),
    },
    { name: t.output, value: <Num value={total.output_tokens} /> },
    ...(total.estimated_tokens > 0
      ? [{ name: t.estimated, value: <Num value={total.estimated_tokens} /> }]
      : []),
    { name: t.turns, value: <Num value={total.turns} /> },
    { name: t.calls, value: <Num value={total.calls} /> },
  ]
  return (
    <Section title={t.month} text={t.monthText(from, to)}>
      <dl className="figures">
        {figures.map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {total.unpriced_calls > 0 && <p className="hint">{t.unpriced(formatNumber(total.unpriced_calls))}</p>}
      <Budgets total={total} />
    </Section>
  )
}

function Budgets({ total }: { total: Sums }) {
  const t = useText(text)
  const agent = useAgent()
  const { data, error } = useQuery(query(getSettings(agent)))
  if (error) return <Problem error={error} />
  if (data === undefined) return null
  const { monthly_tokens, monthly_usd } = data.settings
  const used = total.input_tokens + total.output_tokens + total.estimated_tokens
  return (
    <>
      {monthly_tokens === undefined && monthly_usd === undefined && <p>{t.noBudget}</p>}
      {monthly_tokens !== undefined && (
        <Budget name={t.tokens} used={used} limit={monthly_tokens} format={formatNumber} />
      )}
      {monthly_usd !== undefined && (
        <Budget
          name={t.cost}
          used={Number(total.cost)}
          limit={Number(monthly_usd)}
          format={value => formatDollars(String(value))}
        />
      )}
      <div className="actions">
        <LinkButton to={`${agent.home}/settings`} search={{ tab: 'more' }}>
          {t.change}
        </LinkButton>
      </div>
    </>
  )
}

interface BudgetProps {
  name: string
  used: number
  limit: number
  format(value: number): string
}

function Budget({ name, used, limit, format }: BudgetProps) {
  const t = useText(text)
  const isSpent = used >= limit
  return (
    <div className="budget">
      <b>
        {t.budgets}: {name}
      </b>
      <Progress label={`${t.budgets}: ${name}`} share={Math.min(1, used / limit)} />
      <span className={isSpent ? 'error' : ''}>
        {isSpent ? t.spent(format(limit)) : t.left(format(used), format(limit), format(limit - used))}
      </span>
    </div>
  )
}

function Rows({ group, rows, error }: { group: Group; rows: UsageRow[] | undefined; error: Error | null }) {
  const t = useText(text)
  const nameOf = useNames(group)
  const number = (title: string, name: 'turns' | 'input_tokens' | 'output_tokens' | 'estimated_tokens') => ({
    title,
    isAtEnd: true,
    cell: (row: UsageRow) => (
      <>
        <span className="unit">{title}: </span>
        <Num value={row[name]} />
      </>
    ),
  })
  return (
    <List<UsageRow>
      rows={rows}
      total={rows?.length}
      error={error}
      loadMore={undefined}
      label={t.groups[group]}
      keyOf={row => String(row[group])}
      empty={<Empty title={t.none} text={t.noneText} />}
      columns={[
        { title: t.columns[group], cell: row => <bdi>{nameOf(row).slice(0, 200)}</bdi> },
        number(t.turns, 'turns'),
        number(t.input, 'input_tokens'),
        number(t.output, 'output_tokens'),
        number(t.estimated, 'estimated_tokens'),
        {
          title: t.cost,
          isAtEnd: true,
          cell: row => (isPriced(row) ? <span className="num">{formatDollars(row.cost)}</span> : t.unknown),
        },
      ]}
    />
  )
}

/** Returns the name of a row; keys have their own names. */
function useNames(group: Group): (row: UsageRow) => string {
  const t = useText(text)
  const keys = useQuery({ ...query(listKeys(useAgent())), enabled: group === 'key' }).data?.keys
  return ({ day = '', model = '', person, key }) => {
    if (group === 'day') return day
    if (group === 'model') return model
    if (group === 'person') return person ?? t.noPerson
    if (key == null) return t.noKey
    return keys?.find(({ id }) => id === key)?.name ?? t.otherKey(key)
  }
}
