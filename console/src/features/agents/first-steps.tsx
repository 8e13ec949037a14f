import { type ReactNode, useState } from 'react'
import { upload } from '#console/api/client.ts'
import { invalidate } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { LinkButton } from '#console/ui/button.tsx'
import { FileDrop } from '#console/ui/file-drop.tsx'
import { Icon } from '#console/ui/icon.tsx'
import { Progress } from '#console/ui/progress.tsx'
import { type Source, uploadSource } from './requests.ts'
import { text } from './text.ts'

/** A greeting for an agent without any answer: a document, a question, the cited page. */
export function FirstSteps({ sources }: { sources: readonly Source[] }) {
  const t = useText(text)
  const agent = useAgent()
  const isReady = sources.some(({ status }) => status === 'ready')
  return (
    <section className="first-steps" aria-label={t.welcome}>
      <h2>{t.welcome}</h2>
      <p className="lead">{t.welcomeText}</p>
      <ol>
        <Step title={t.steps.document} text={t.steps.documentText} isDone={isReady}>
          <FirstDocument sources={sources} />
        </Step>
        <Step title={t.steps.ask} text={t.steps.askText} isDone={false}>
          <LinkButton kind={isReady ? 'primary' : 'plain'} to={`${agent.home}/chat`} search={{ write: 1 }}>
            {t.steps.askButton}
          </LinkButton>
        </Step>
        <Step title={t.steps.see} text={t.steps.seeText} isDone={false} />
      </ol>
    </section>
  )
}

function Step(props: { title: string; text: string; isDone: boolean; children?: ReactNode }) {
  return (
    <li className="card">
      <h3>
        {props.isDone && <Icon name="check" />}
        {props.title}
      </h3>
      <p>{props.text}</p>
      {props.children}
    </li>
  )
}

function FirstDocument({ sources }: { sources: readonly Source[] }) {
  const t = useText(text)
  const agent = useAgent()
  const [sending, setSending] = useState<{ name: string; share: number; error?: string }>()

  async function send(file: File | undefined) {
    if (file === undefined) return
    const { name } = file
    try {
      await upload(uploadSource(agent.id, file), share => setSending({ name, share }))
      setSending(undefined)
      await invalidate([`${agent.api}/sources`])
    } catch (error) {
      setSending({ name, share: 0, error: error instanceof Error ? error.message : String(error) })
    }
  }

  const [latest] = sources
  return (
    <>
      <FileDrop label={t.drop} isSingle onFiles={([file]) => void send(file)} />
      <div role="status">
        {sending?.error !== undefined && <p className="error">{t.failed(sending.name, sending.error)}</p>}
        {sending && sending.error === undefined && (
          <Progress label={t.uploading(sending.name)} share={sending.share} />
        )}
        {sending === undefined && latest && <p className="hint">{stateOf(latest, t)}</p>}
      </div>
    </>
  )
}

function stateOf({ name, status, error }: Source, t: ReturnType<typeof text.current>): string {
  if (status === 'ready') return t.ready(name)
  return status === 'error' ? t.failed(name, error ?? '') : t.reading(name)
}
