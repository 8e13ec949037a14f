import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { query, queryClient } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { LoadContext, ViewProps } from '#console/shell/view.ts'
import { Problem } from '#console/ui/empty.tsx'
import { Icon } from '#console/ui/icon.tsx'
import { Section } from '#console/ui/section.tsx'
import { Tabs } from '#console/ui/tabs.tsx'
import { settingsSearch } from '../feature.ts'
import { type Settings as Answer, getSettings } from '../requests.ts'
import { Credentials } from './credentials.tsx'
import { Danger } from './danger.tsx'
import { Model } from './model.tsx'
import { Notify } from './notify.tsx'
import { SettingsForm } from './settings-form.tsx'
import { text, type Words } from './text.ts'
import './settings.css'

export const prefetch = ({ agent }: LoadContext) => queryClient.prefetchQuery(query(getSettings(agent.id)))

const names = settingsSearch.tab
type Name = (typeof names)[number]

/** An agent's settings: its model, its instructions, its credentials and its bounds. */
export default function Settings({ search: { tab } }: ViewProps<never, typeof settingsSearch>) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const { data, error } = useQuery(query(getSettings(agent.id)))
  if (error && data === undefined) return <Problem error={error} />
  if (data === undefined) return null
  const shown = names.filter(name => name !== 'danger' || agent.may('change'))
  const chosen = shown.find(name => name === tab) ?? 'model'
  return (
    <div className="page">
      <Tabs
        label={t.settings}
        tabs={shown.map(name => ({ name, title: t.tabs[name] }))}
        chosen={chosen}
        onChoose={name => void navigate({ to: '.', search: { tab: name }, replace: true })}
      >
        <div className="sections">
          <Warnings warnings={data.warnings} />
          <Chosen name={chosen} answer={data} t={t} />
        </div>
      </Tabs>
    </div>
  )
}

function Chosen({ name, answer, t }: { name: Name; answer: Answer; t: Words }) {
  if (name === 'model') return <Model answer={answer} />
  if (name === 'credentials') return <Credentials set={answer.credentials} />
  if (name === 'danger') return <Danger />
  if (name === 'more')
    return (
      <>
        {groupsOf(t).map(group => (
          <Group key={group.title} {...group} answer={answer} />
        ))}
        <Notify answer={answer} />
      </>
    )
  return (
    <Section title={t.tabs.instructions} text={t.instructionsText}>
      <SettingsForm
        answer={answer}
        properties={{
          system_prompt: {
            type: 'string',
            format: 'multiline',
            title: t.fields.system_prompt,
            maxLength: 100_000,
          },
        }}
      />
    </Section>
  )
}

function Warnings({ warnings }: Pick<Answer, 'warnings'>) {
  const t = useText(text)
  if (warnings.length === 0) return null
  return (
    <ul className="warnings" aria-label={t.warnings}>
      {warnings.map(({ field, issue }) => (
        <li key={field + issue}>
          <Icon name="warning" />
          <span>
            <b>
              {t.fields[field as keyof Words['fields']] ??
                t.credentials[field as keyof Words['credentials']] ??
                field}
            </b>
            : {issue}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** Settings that few agents change. */
function groupsOf({ fields, hints, groups, choices, providers }: Words) {
  const text = (name: keyof Words['fields']) => ({
    type: 'string',
    title: fields[name],
    description: hints[name],
  })
  const check = (name: keyof Words['fields']) => ({
    ...text(name),
    type: 'boolean',
    default: false,
  })
  const choice = (name: keyof Words['fields'], of: Readonly<Record<string, string>>) => ({
    ...text(name),
    enum: Object.keys(of),
    enumTitles: Object.values(of),
  })
  return [
    {
      title: groups.tools,
      properties: {
        browser_tools: check('browser_tools'),
        browser_profile: text('browser_profile'),
        sql_tool_writes: check('sql_tool_writes'),
        browse_hosts: { ...text('browse_hosts'), type: 'array', items: { type: 'string' } },
        builtin_tools: { ...text('builtin_tools'), type: 'object' },
      },
    },
    {
      title: groups.conversations,
      properties: {
        conversations_max: { ...text('conversations_max'), type: 'integer', minimum: 1, maximum: 1000 },
        title_model: text('title_model'),
        approval_timeout: {
          ...text('approval_timeout'),
          type: 'integer',
          format: 'duration',
          default: 86_400,
        },
        phone_country: { ...text('phone_country'), maxLength: 2, examples: ['DE'] },
      },
    },
    {
      title: groups.budget,
      properties: {
        monthly_tokens: { ...text('monthly_tokens'), type: 'integer', minimum: 1 },
        monthly_usd: { ...text('monthly_usd'), examples: ['12.50'] },
      },
    },
    {
      title: groups.documents,
      properties: {
        embedding_provider: choice('embedding_provider', embeddingsOf(providers, choices)),
        embedding_model: text('embedding_model'),
      },
    },
    {
      title: groups.payments,
      properties: {
        x402_approval: choice('x402_approval', choices.approval),
        x402_daily_limit: { ...text('x402_daily_limit'), examples: ['12.50'] },
        x402_payment_limit: { ...text('x402_payment_limit'), examples: ['1.00'] },
        x402_pay_to: { ...text('x402_pay_to'), examples: ['0x…'] },
        issuing_approval: {
          type: 'object',
          title: fields.issuing_approval,
          properties: {
            mode: {
              type: 'string',
              title: fields.mode,
              enum: Object.keys(choices.issuing),
              enumTitles: Object.values(choices.issuing),
            },
            max_amount: {
              type: 'integer',
              title: fields.max_amount,
              description: hints.max_amount,
              minimum: 0,
            },
          },
        },
      },
    },
  ]
}

const embeddingsOf = (providers: Words['providers'], { local }: Words['choices']) => ({
  builtin: providers.builtin,
  openai: 'OpenAI',
  'openai-compatible': providers['openai-compatible'],
  google: 'Google',
  local,
})

type GroupProps = ReturnType<typeof groupsOf>[number] & { answer: Answer }

function Group({ title, properties, answer }: GroupProps) {
  return (
    <Section title={title}>
      <SettingsForm answer={answer} properties={properties} />
    </Section>
  )
}
