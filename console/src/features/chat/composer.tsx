import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { useEffect, useRef, useState } from 'react'
import { query } from '#console/api/query.ts'
import { createStore, useStore } from '#console/api/store.ts'
import { formatNumber } from '#console/i18n/format.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { chatOf, listModels } from './requests.ts'
import { text } from './text.ts'
import type { Turn } from './turns.ts'
import { draftKey, drafts, setDraft, startTurn } from './turns.ts'

/** Characters, as the service has it. */
const maxLength = 100_000

/** Models that were chosen, by chat; as set in the agent's settings where there is none. */
const models = createStore<Readonly<Record<string, string>>>({})
export const modelFor = (chat: string): string | undefined => models.get()[chat] || undefined

interface ComposerProps {
  conversationId: string | undefined
  running: Turn | undefined
  onSent(turn: Turn): void
}

/** Writes a message: Enter sends it, Shift Enter begins a line. While an answer comes, it stops that. */
export function Composer({ conversationId, running, onSent }: ComposerProps) {
  const t = useText(text)
  const agent = useAgent()
  const chat = chatOf(agent)
  const key = draftKey(chat, conversationId)
  const draft = useStore(drafts)[key] ?? ''
  const [autoRag, setAutoRag] = useState(true)
  const [enableTools, setEnableTools] = useState(true)
  const isTooLong = draft.length > maxLength
  const isReady = draft.trim() !== '' && !isTooLong && running === undefined

  // The way to a new conversation leads into the field. On a touch screen that would raise the keyboard.
  const field = useRef<HTMLTextAreaElement>(null)
  const { write } = useSearch({ strict: false }) as { write?: number }
  useEffect(() => {
    if (write !== undefined && matchMedia('(hover: hover)').matches) field.current?.focus()
  }, [write])

  function send(event?: FormEvent) {
    event?.preventDefault()
    if (!isReady) return
    setDraft(key, '')
    const model = modelFor(chat)
    const options = {
      autoRag,
      enableTools,
      ...(model && { model }),
      ...(conversationId && { conversationId }),
    }
    onSent(startTurn(chat, { content: draft, ...options }))
  }

  return (
    <form className="composer" onSubmit={send}>
      <textarea
        ref={field}
        aria-label={t.message}
        placeholder={t.ask(agent.name)}
        aria-describedby="too-long"
        aria-invalid={isTooLong || undefined}
        rows={1}
        dir="auto"
        value={draft}
        onChange={({ target }) => setDraft(key, target.value)}
        onKeyDown={event => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      <p id="too-long" className="error" hidden={!isTooLong}>
        {t.tooLong(formatNumber(draft.length), formatNumber(maxLength))}
      </p>
      <div className="controls">
        <Toggle name={t.documents} hint={t.documentsHint} isOn={autoRag} onChange={setAutoRag} />
        <Toggle name={t.tools} hint={t.toolsHint} isOn={enableTools} onChange={setEnableTools} />
        <ModelChoice chat={chat} />
        {running === undefined ? (
          <Button type="submit" kind="primary" icon="up" label={t.send} disabled={!isReady} />
        ) : (
          <Button icon="stop" label={t.stop} onClick={running.stop} />
        )}
      </div>
    </form>
  )
}

interface ToggleProps {
  name: string
  hint: string
  isOn: boolean
  onChange(isOn: boolean): void
}

function Toggle({ name, hint, isOn, onChange }: ToggleProps) {
  return (
    <button type="button" className="chip" title={hint} aria-pressed={isOn} onClick={() => onChange(!isOn)}>
      {name}
    </button>
  )
}

function ModelChoice({ chat }: { chat: string }) {
  const t = useText(text)
  const chosen = useStore(models)[chat] ?? ''
  const known = useQuery(query(listModels(chat), { isShown: false })).data?.models ?? []
  return (
    <select
      className="chip"
      aria-label={t.model}
      value={chosen}
      onChange={({ target }) => models.set({ ...models.get(), [chat]: target.value })}
    >
      <option value="">{t.modelAsSet}</option>
      {known.map(({ id, name, provider }) => (
        <option key={`${provider}/${id}`} value={`${provider}/${id}`}>
          {name}
        </option>
      ))}
    </select>
  )
}
