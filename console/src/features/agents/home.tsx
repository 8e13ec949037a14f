import { useQuery } from '@tanstack/react-query'
import { useChanges } from '#console/api/changes.ts'
import { query, queryClient } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { type Agent as ShownAgent, useAgent } from '#console/shell/agent.tsx'
import { LinkButton } from '#console/ui/button.tsx'
import { Problem } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { Num } from '#console/ui/number.tsx'
import { Status } from '#console/ui/status.tsx'
import { FirstSteps } from './first-steps.tsx'
import { type Agent, getAgent, listSources } from './requests.ts'
import { text } from './text.ts'
import './home.css'

export const prefetch = ({ agent }: { agent: ShownAgent }) =>
  Promise.all([
    queryClient.prefetchQuery(query(getAgent(agent.id))),
    queryClient.prefetchQuery(query(listSources(agent.id))),
  ])

const tones = { active: 'good', paused: 'warn', disabled: 'plain' } as const

/** An agent's start page; for an empty agent, the first steps. */
export default function Home() {
  const t = useText(text)
  const shown = useAgent()
  const { data: agent, error } = useQuery(query(getAgent(shown.id)))
  // The counts cover all resources of the agent.
  useChanges(() => void queryClient.invalidateQueries(query(getAgent(shown.id))))
  const { data: sources } = useQuery(query(listSources(shown.id)))
  if (error && agent === undefined) return <Problem error={error} />
  if (agent === undefined || sources === undefined) return null
  const isNew = agent.stats.messages === 0
  return (
    <div className="page">
      <Heading
        title={agent.name}
        detail={
          <>
            <Status tone={tones[agent.status]}>{t.states[agent.status]}</Status>
            <span>{agent.description}</span>
          </>
        }
      />
      {isNew && shown.may('change') && <FirstSteps sources={sources.sources} />}
      <Counts agent={agent} sources={sources.meta.total} />
      <Model agent={agent} />
    </div>
  )
}

function Counts({ agent, sources }: { agent: Agent; sources: number }) {
  const t = useText(text)
  const { messages, contacts, workflows, schedules } = agent.stats
  const counts = { sources, messages, contacts, workflows, schedules }
  return (
    <dl className="counts">
      {Object.entries(counts).map(([name, value]) => (
        <div key={name} className="card">
          <dt>{t.counts[name as keyof typeof counts]}</dt>
          <dd>
            <Num value={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Model({ agent }: { agent: Agent }) {
  const t = useText(text)
  const shown = useAgent()
  const { llm_provider, llm_model } = agent.settings
  const isBuiltin = (llm_provider ?? 'builtin') === 'builtin'
  return (
    <section className="card model" aria-label={t.model}>
      <h2>{t.model}</h2>
      <p>{isBuiltin ? t.builtin : [llm_provider, llm_model].filter(Boolean).join(' · ')}</p>
      {isBuiltin && <p className="hint">{t.noModel}</p>}
      {shown.may('change') && <LinkButton to={`${shown.home}/settings`}>{t.chooseModel}</LinkButton>}
    </section>
  )
}
