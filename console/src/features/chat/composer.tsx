import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { ClipboardEvent, FormEvent } from 'react'
import { useEffect, useRef, useState } from 'react'
import { query } from '#console/api/query.ts'
import { createStore, useStore } from '#console/api/store.ts'
import { formatNumber } from '#console/i18n/format.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import type { AddedFile } from './added-files.ts'
import { addedFiles, addFiles, isOnItsWay, takeFiles } from './added-files.ts'
import { AddedFiles } from './files.tsx'
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
  const files = useStore(addedFiles).filter(file => file.key === key)
  const isTooLong = draft.length > maxLength
  const isWritten = draft.trim() !== '' || files.some(({ stored }) => stored !== undefined)
  const isReady = isWritten && !isTooLong && running === undefined && !files.some(isOnItsWay)

  // The way to a new conversation leads into the field. On a touch screen that would raise the keyboard.
  const field = useRef<HTMLTextAreaElement>(null)
  const { write } = useSearch({ strict: false }) as { write?: number }
  useEffect(() => {
    if (write !== undefined && matchMedia('(hover: hover)').matches) field.current?.focus()
  }, [write])

  useEscape(running?.stop)

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
    const content = draft.trim() === '' ? {} : { content: draft }
    onSent(startTurn(chat, { ...content, ...options }, takeFiles(key)))
  }

  return (
    <form className="composer" onSubmit={send}>
      <AddedFiles files={files} />
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
        onPaste={event => {
          const pasted = pastedFiles(event)
          if (pasted.length > 0) addFiles(chat, key, pasted)
        }}
        onKeyDown={event => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      <p id="too-long" className="error" hidden={!isTooLong}>
        {t.tooLong(formatNumber(draft.length), formatNumber(maxLength))}
      </p>
      <BlindHint chat={chat} files={files} />
      <div className="controls">
        <AttachButton onFiles={given => addFiles(chat, key, given)} />
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

/** The files of what is pasted, which then is no text. Copied from an office program, a text has a picture of itself along. */
function pastedFiles(event: ClipboardEvent): readonly File[] {
  const { files, types } = event.clipboardData
  if (files.length === 0 || types.includes('text/plain')) return []
  event.preventDefault()
  return [...files]
}

/** Escape ends what runs, unless it closes something first. */
function useEscape(stop: (() => void) | undefined): void {
  useEffect(() => {
    if (stop === undefined) return
    const press = ({ key, defaultPrevented }: KeyboardEvent) => {
      const isForOther = defaultPrevented || document.querySelector('dialog[open], :popover-open') !== null
      if (key === 'Escape' && !isForOther) stop()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [stop])
}

function AttachButton({ onFiles }: { onFiles(files: readonly File[]): void }) {
  const t = useText(text)
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button kind="quiet" icon="clip" label={t.attach} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label={t.attach}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])])
          target.value = ''
        }}
      />
    </>
  )
}

/** Says so if the chosen model is known to see no images. */
function BlindHint({ chat, files }: { chat: string; files: readonly AddedFile[] }) {
  const t = useText(text)
  const chosen = useStore(models)[chat]
  const known = useQuery(query(listModels(chat), { isShown: false })).data?.models
  const model = known?.find(({ provider, id }) => `${provider}/${id}` === chosen)
  const hasImages = files.some(({ stored }) => stored?.kind === 'image')
  return model?.supportsImages === false && hasImages ? <p className="hint">{t.blind}</p> : null
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
