import { useText } from '#console/i18n/text.ts'
import { Progress } from '#console/ui/progress.tsx'
import { Status, type Tone } from '#console/ui/status.tsx'
import { failedPagesOf, isInWork, type Source } from './requests.ts'
import { text } from './text.ts'

const tones = {
  pending: 'plain',
  processing: 'info',
  crawling: 'info',
  updating: 'info',
  ready: 'good',
  error: 'bad',
} satisfies Record<Source['status'], Tone>

/** The state of a source, with its progress and error. */
export function SourceState({ source }: { source: Source }) {
  const t = useText(text)
  const { status, progress, name, error, config } = source
  const failed = failedPagesOf(source).length
  const found = status === 'crawling' && 'pageCount' in config ? config.pageCount : undefined
  return (
    <div className="source-state">
      <Status tone={tones[status]}>{t.states[status]}</Status>
      {found !== undefined && <span className="hint">{t.pagesSoFar(found)}</span>}
      {isInWork(source) && status !== 'pending' && (
        <Progress label={t.progressOf(name.slice(0, 200))} share={progress} />
      )}
      {status === 'error' && error && <span className="error">{error.slice(0, 200)}</span>}
      {!isInWork(source) && failed > 0 && <span className="hint">{t.pagesFailed(failed)}</span>}
    </div>
  )
}
