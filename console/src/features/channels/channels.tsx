import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { query, queryClient, useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { type Agent, useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { ChangesForm } from '#console/ui/changes-form.tsx'
import { CopyLine } from '#console/ui/code.tsx'
import { Dialog } from '#console/ui/dialog.tsx'
import { Problem } from '#console/ui/empty.tsx'
import type { JsonSchema } from '#console/ui/schema.ts'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { Section } from '#console/ui/section.tsx'
import { Status, type Tone } from '#console/ui/status.tsx'
import { toast } from '#console/ui/toast.tsx'
import {
  type ChannelName,
  changeSettings,
  connectTelegram,
  getChannels,
  getSettings,
  testChannel,
} from './requests.ts'
import { text } from './text.ts'
import './channels.css'

export const prefetch = ({ agent }: { agent: Agent }) =>
  Promise.all(
    [getChannels(agent), getSettings(agent)].map(one => queryClient.prefetchQuery(query<unknown>(one))),
  )

/** The channels to people outside, with the steps that connect each. */
export default function Channels() {
  const t = useText(text)
  const agent = useAgent()
  const channels = useQuery(query(getChannels(agent)))
  const settings = useQuery(query(getSettings(agent)))
  const error = channels.error ?? settings.error
  if (channels.data === undefined || settings.data === undefined) return error && <Problem error={error} />
  const { telegram, whatsapp, mail } = channels.data.channels
  const mayChange = agent.may('change')

  const form = (...names: readonly (keyof typeof t.fields)[]) => {
    const properties = Object.fromEntries(names.map(name => [name, propertyOf(name)]))
    return (
      <ChangesForm
        schema={{ properties }}
        values={settings.data.settings}
        requestOf={changeSettings(agent)}
        changes={[`${agent.api}/settings`, `${agent.api}/channels`]}
        isReadOnly={!mayChange}
      />
    )
  }

  function propertyOf(name: keyof typeof t.fields): JsonSchema {
    const title = t.fields[name]
    if (name === 'channel_senders')
      return {
        type: 'string',
        title,
        enum: Object.keys(t.senders),
        enumTitles: Object.values(t.senders),
        default: 'contacts',
      }
    if (name === 'mail_from') return { type: 'string', title, examples: ['Support <help@example.com>'] }
    const isSet = settings.data?.credentials[name] === true
    const hints = [isSet ? t.isSet : undefined, t.hints[name]].filter(hint => hint !== undefined)
    return {
      type: 'string',
      title,
      writeOnly: true,
      description: hints.length > 0 ? hints.join(' ') : undefined,
    }
  }

  return (
    <div className="page">
      <Section title={t.answered} text={t.answeredText}>
        {form('channel_senders')}
      </Section>
      <Channel name="telegram" isReady={telegram.configured} isConnected={telegram.connected}>
        <Step>{t.telegram.bot}</Step>
        <Step>
          {t.telegram.token}
          {form('telegram_bot_token')}
        </Step>
        <Step>
          {t.telegram.connect}
          {telegram.configured && <ConnectTelegram />}
        </Step>
      </Channel>
      <Channel name="whatsapp" isReady={whatsapp.configured} isConnected={whatsapp.connected}>
        <Step>{t.whatsapp.app}</Step>
        <Step>
          {t.whatsapp.secrets}
          {form(
            'whatsapp_access_token',
            'whatsapp_phone_number_id',
            'whatsapp_app_secret',
            'whatsapp_verify_token',
          )}
        </Step>
        <Step>
          {t.whatsapp.address}
          <CopyLine label={t.callback} text={`${location.origin}${agent.api}/channels/whatsapp/webhook`} />
          {location.protocol !== 'https:' && <p className="hint">{t.needsHttps}</p>}
        </Step>
      </Channel>
      <Channel name="mail" isReady={mail.configured} isConnected={undefined}>
        <Step>
          {mail.credentials === 'platform' ? t.mail.ofPlatform : t.mail.server}
          {form('smtp_url', 'mail_from')}
        </Step>
      </Channel>
    </div>
  )
}

interface ChannelProps {
  name: ChannelName
  isReady: boolean
  /** Null if the state is unknown; undefined for a channel that receives nothing. */
  isConnected: boolean | null | undefined
  children: ReactNode
}

function Channel({ name, isReady, isConnected, children }: ChannelProps) {
  const t = useText(text)
  const agent = useAgent()
  const [isTesting, setTesting] = useState(false)
  const sends: [Tone, string] = isReady ? ['good', t.sends] : ['plain', t.isOff]
  const receives: [Tone, string] = isConnected
    ? ['good', t.receives]
    : isConnected === null
      ? name === 'telegram'
        ? ['warn', t.noAnswer]
        : ['info', t.mayReceive]
      : ['plain', t.receivesNothing]
  const states = isReady && isConnected !== undefined ? [sends, receives] : [sends]
  return (
    <Section
      title={t.names[name]}
      detail={states.map(([tone, word]) => (
        <Status key={word} tone={tone}>
          {word}
        </Status>
      ))}
    >
      {agent.may('change') ? <ol className="steps">{children}</ol> : null}
      {agent.may('change') && isReady && (
        <div>
          <Button onClick={() => setTesting(true)}>{t.test}</Button>
        </div>
      )}
      {isTesting && <Test name={name} onClose={() => setTesting(false)} />}
    </Section>
  )
}

function Step({ children }: { children: ReactNode }) {
  return (
    <li>
      <div>{children}</div>
    </li>
  )
}

function ConnectTelegram() {
  const t = useText(text)
  const agent = useAgent()
  const connect = useChange(connectTelegram(agent), {
    changes: [`${agent.api}/channels`],
    onDone: ({ url }) => toast(t.connected(url)),
  })
  return (
    <div>
      <Button disabled={connect.isPending} onClick={() => connect.mutate(undefined)}>
        {t.connect}
      </Button>
      {connect.error && (
        <p className="error" role="alert">
          {connect.error.message}
        </p>
      )}
    </div>
  )
}

function Test({ name, onClose }: { name: ChannelName; onClose(): void }) {
  const t = useText(text)
  const agent = useAgent()
  const test = useChange(testChannel(agent, name), { changes: [], onDone: () => toast(t.tested) })
  const to = { type: 'string', title: t.to, description: t.addresses[name] }
  return (
    <Dialog title={`${t.test}: ${t.names[name]}`} onClose={onClose}>
      <SchemaForm
        schema={{ required: ['to'], properties: { to } }}
        submit={t.send}
        request={testChannel(agent, name)}
        onCancel={onClose}
        onSubmit={async values => {
          await test.mutateAsync(values)
          onClose()
        }}
      />
    </Dialog>
  )
}
