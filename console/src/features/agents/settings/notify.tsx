import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { query, useChange } from '#console/api/query.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { Combobox } from '#console/ui/combobox.tsx'
import { SelectField } from '#console/ui/field.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import { changeSettings, findContacts, getContact, type Settings } from '../requests.ts'
import { text } from './text.ts'

type Notified = NonNullable<Settings['settings']['notify']>
type Channel = keyof Notified

/** The contact who is notified of items that wait for a person. */
export function Notify({ answer }: { answer: Settings }) {
  const t = useText(text)
  const { saved } = useText(frameText)
  const agent = useAgent()
  const [[channel, id] = []] = Object.entries(answer.settings.notify ?? {}) as [Channel, string][]
  const { data: contact } = useQuery({ ...query(getContact(agent.id, id ?? '')), enabled: id !== undefined })
  const { mutate } = useChange(changeSettings(agent.id), {
    changes: [agent.api],
    onDone: () => toast(saved),
  })
  const set = (notify: Notified | null) => mutate({ notify }, { onError: toastError })
  const now = channel ? `${t.channels[channel]}: ${contact?.name ?? id}` : t.notified.none
  return (
    <Section title={t.notified.title} text={t.notified.text}>
      <Facts rows={[{ name: t.notified.now, value: now }]} />
      {agent.may('change') && channel && <Button onClick={() => set(null)}>{t.notified.stop}</Button>}
      {agent.may('change') && <Choice onChoose={set} />}
    </Section>
  )
}

/** The server finds contacts by the typed text because there might be many. */
function Choice({ onChoose }: { onChoose(notify: Notified): void }) {
  const t = useText(text)
  const agent = useAgent()
  const [channel, setChannel] = useState<Channel>('email')
  const [typed, setTyped] = useState('')
  const { data } = useQuery(query(findContacts(agent.id, typed)))
  const options = (data?.contacts ?? []).map(({ id, name, email, phone }) => ({
    id,
    label: name,
    keywords: [email, phone].filter(Boolean).join(' '),
  }))
  return (
    <>
      <SelectField
        label={t.notified.by}
        value={channel}
        onChange={value => setChannel(value as Channel)}
        choices={Object.entries(t.channels).map(([value, label]) => ({ value, label }))}
      />
      <Combobox
        label={t.notified.contact}
        placeholder={t.notified.contact}
        options={options}
        onType={setTyped}
        onChoose={({ id }) => onChoose({ [channel]: id })}
      />
    </>
  )
}
