import { useStore } from '#console/api/store.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { FileDrop } from '#console/ui/file-drop.tsx'
import { Bytes } from '#console/ui/number.tsx'
import { Progress } from '#console/ui/progress.tsx'
import { text } from './text.ts'
import { addUploads, dismiss, retry, type Upload, uploads } from './uploads.ts'

const accept = '.pdf,.docx,.md,.txt,.csv,.json,.jsonl,.ndjson'

/** A drop zone for documents, with the running uploads. */
export function Uploads() {
  const t = useText(text)
  const agent = useAgent()
  const own = useStore(uploads).filter(({ agentId }) => agentId === agent.id)
  return (
    <>
      <div className="upload-place">
        <FileDrop label={t.upload} accept={accept} onFiles={files => addUploads(agent, files)} />
        <p className="hint">{t.accepted}</p>
      </div>
      {own.length > 0 && (
        <ul className="card uploads" aria-label={t.uploads}>
          {own.map(one => (
            <UploadRow key={one.id} upload={one} />
          ))}
        </ul>
      )}
    </>
  )
}

function UploadRow({ upload: { id, file, state, share, error } }: { upload: Upload }) {
  const t = useText(text)
  const agent = useAgent()
  const name = file.name.slice(0, 200)
  const isFailed = state === 'failed'
  return (
    <li>
      <span className="upload-name">
        {name}{' '}
        <span className="hint">
          <Bytes value={file.size} />
        </span>
      </span>
      {state === 'sending' && <Progress label={t.uploading(name)} share={share} />}
      {state === 'waiting' && <span className="hint">{t.waits}</span>}
      {isFailed && (
        <span className="error" role="alert">
          {error}
        </span>
      )}
      <span className="actions">
        {isFailed && (
          <Button kind="quiet" icon="refresh" label={t.again(name)} onClick={() => retry(agent, id)} />
        )}
        <Button
          kind="quiet"
          icon="close"
          label={isFailed ? t.dismiss(name) : t.cancelUpload(name)}
          onClick={() => dismiss(id)}
        />
      </span>
    </li>
  )
}
