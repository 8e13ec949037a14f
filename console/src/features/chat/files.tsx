import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { open } from '#console/api/client.ts'
import { get } from '#console/api/request.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { Dialog } from '#console/ui/dialog.tsx'
import { Icon } from '#console/ui/icon.tsx'
import { Bytes } from '#console/ui/number.tsx'
import { Progress } from '#console/ui/progress.tsx'
import { type AddedFile, isOnItsWay, takeBack } from './added-files.ts'
import { type Attachment, chatOf, fileKey, filePath } from './requests.ts'
import { text } from './text.ts'

const maxName = 80

/** The files of a message: images as pictures, others by their names; each can be downloaded. */
export function Files({ files }: { files: readonly Attachment[] }) {
  const t = useText(text)
  if (files.length === 0) return null
  return (
    <ul className="files" aria-label={t.files}>
      {files.map(file => (
        <li key={file.id}>{file.kind === 'image' ? <Picture file={file} /> : <Download file={file} />}</li>
      ))}
    </ul>
  )
}

function Download({ file: { id, name, size } }: { file: Attachment }) {
  const chat = chatOf(useAgent())
  return (
    <a className="chip" href={filePath(chat, id)} download={name}>
      <Icon name="file" /> <bdi>{name.slice(0, maxName)}</bdi> <Bytes value={size} />
    </a>
  )
}

/** A picture that opens in full size. Its bytes are fetched: the service sends files only as attachments. */
function Picture({ file }: { file: Attachment }) {
  const t = useText(text)
  const place = useRef<HTMLButtonElement>(null)
  const { url, hasFailed } = useImage(file, place)
  const [isOpen, setOpen] = useState(false)
  if (hasFailed) return <Download file={file} />
  const name = file.name.slice(0, maxName)
  return (
    <>
      <button
        ref={place}
        type="button"
        className="picture"
        aria-label={t.enlarge(name)}
        onClick={() => setOpen(true)}
      >
        {url && <img src={url} alt="" />}
      </button>
      {isOpen && (
        <Dialog isWide title={name} onClose={() => setOpen(false)} actions={<Download file={file} />}>
          <img className="whole" src={url} alt={name} />
        </Dialog>
      )}
    </>
  )
}

/** Fetches an image when its place comes into view. */
function useImage({ id, mime_type }: Attachment, place: { current: Element | null }) {
  const chat = chatOf(useAgent())
  const [isSeen, setSeen] = useState(false)
  const [url, setUrl] = useState<string>()
  const { data, error } = useQuery({
    queryKey: fileKey(chat, id),
    enabled: isSeen,
    staleTime: Number.POSITIVE_INFINITY,
    async queryFn({ signal }) {
      const response = await open(get(filePath(chat, id)), { signal, isShown: false })
      return new Blob([await response.arrayBuffer()], { type: mime_type })
    },
  })
  useEffect(() => {
    if (place.current === null) return
    const watch = new IntersectionObserver(entries => setSeen(entries.some(one => one.isIntersecting)))
    watch.observe(place.current)
    return () => watch.disconnect()
  }, [place])
  useEffect(() => {
    if (data === undefined) return
    const made = URL.createObjectURL(data)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [data])
  return { url, hasFailed: error !== null }
}

/** The added files of a draft. */
export function AddedFiles({ files }: { files: readonly AddedFile[] }) {
  const t = useText(text)
  const chat = chatOf(useAgent())
  if (files.length === 0) return null
  return (
    <ul className="files added" aria-label={t.files}>
      {files.map(file => {
        const { id, stored, error, share } = file
        const name = file.name.slice(0, maxName)
        return (
          <li key={id} className={error === undefined ? '' : 'refused'}>
            {stored?.kind === 'image' ? <Picture file={stored} /> : <Icon name="file" />}
            <span>
              <bdi>{name}</bdi>
              {stored && <Bytes value={stored.size} />}
              {isOnItsWay(file) && <Progress label={t.uploading(name)} share={share} />}
              {error !== undefined && (
                <span className="error" role="alert">
                  {error}
                </span>
              )}
            </span>
            <Button kind="quiet" icon="close" label={t.takeBack(name)} onClick={() => takeBack(chat, file)} />
          </li>
        )
      })}
    </ul>
  )
}
