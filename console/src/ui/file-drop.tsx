import { useRef, useState } from 'react'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'

interface FileDropProps {
  label: string
  /** Endings and types, as of `<input accept>`. */
  accept?: string
  isSingle?: boolean
  onFiles(files: readonly File[]): void
}

/** A place to drop files on; its button opens the system's dialog. */
export function FileDrop({ label, accept, isSingle = false, onFiles }: FileDropProps) {
  const t = useText(frameText)
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const take = (files: FileList | null) => {
    if (files !== null && files.length > 0) onFiles([...files].slice(0, isSingle ? 1 : undefined))
  }
  return (
    <section
      className={`drop${isOver ? ' over' : ''}`}
      aria-label={label}
      onDragOver={event => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={event => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer.files)
      }}
    >
      <span>{t.dropFiles}</span>{' '}
      <button type="button" className="link" onClick={() => input.current?.click()}>
        {t.chooseFiles}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={label}
        multiple={!isSingle}
        accept={accept}
        onChange={({ target }) => {
          take(target.files)
          target.value = ''
        }}
      />
    </section>
  )
}
