import { useQuery } from '@tanstack/react-query'
import { query, queryClient } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { type Agent, useAgent } from '#console/shell/agent.tsx'
import { Empty, Problem } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { Icon, type IconName } from '#console/ui/icon.tsx'
import { Status, type Tone } from '#console/ui/status.tsx'
import { Time } from '#console/ui/time.tsx'
import { contents } from './items.tsx'
import { type AttentionItem, type AttentionKind, countOf, getAttention } from './requests.ts'
import { text } from './text.ts'
import './attention.css'

export const prefetch = ({ agent }: { agent: Agent }) => queryClient.prefetchQuery(query(getAttention(agent)))

const looks: Record<AttentionKind, { icon: IconName; tone: Tone }> = {
  tool_approval: { icon: 'tool', tone: 'warn' },
  workflow_approval: { icon: 'flow', tone: 'warn' },
  takeover: { icon: 'browser', tone: 'warn' },
  mcp_definition: { icon: 'shield', tone: 'warn' },
  payment_notification: { icon: 'card', tone: 'warn' },
  waiting_execution: { icon: 'clock', tone: 'plain' },
  failed_execution: { icon: 'flow', tone: 'bad' },
  failed_source: { icon: 'book', tone: 'bad' },
  failed_notice: { icon: 'warning', tone: 'bad' },
}

const maxTitle = 200

/** All items that wait for a person, newest first, each with its buttons. */
export default function Attention() {
  const t = useText(text)
  const { data, error, refetch } = useQuery(query(getAttention(useAgent())))
  if (error && data === undefined) return <Problem error={error} onRetry={() => void refetch()} />
  if (data === undefined) return null
  const { items } = data
  const total = countOf(data) ?? 0
  if (total === 0) return <Empty title={t.none} text={t.noneText} />
  return (
    <div className="page">
      <Heading detail={t.count(total)} />
      <ul className="needs" aria-label={t.label}>
        {items.map(item => (
          <Item key={`${item.kind} ${item.id}`} item={item} />
        ))}
      </ul>
      {total > items.length && <p className="hint">{t.more(total - items.length)}</p>}
    </div>
  )
}

function Item({ item }: { item: AttentionItem }) {
  const t = useText(text)
  const { icon, tone } = looks[item.kind]
  const Content = contents[item.kind]
  return (
    <li className="card need">
      <span className={`glyph ${tone}`}>
        <Icon name={icon} />
      </span>
      <header>
        <h2>{item.title.slice(0, maxTitle)}</h2>
        <Status tone={tone}>{t.kinds[item.kind]}</Status>
        <Time at={item.at} />
      </header>
      <Content item={item} />
    </li>
  )
}
