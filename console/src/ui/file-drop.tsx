import { type DragEvent, useRef, useState } from 'react'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'

interface FileDropProps {
  label: string
  /** File endings and types, in the form of `<input accept>`. */
  accept?: string
  isSingle?: boolean
  onFiles(files: readonly File[]): void
}

/** Makes an element a drop zone for files: spread `place` on it. `isOver` is true while files are over it. */
export function useFileDrop(onFiles: (files: readonly File[]) => void) {
  const [isOver, setOver] = useState(false)
  return {
    isOver,
    place: {
      onDragOver(event: DragEvent) {
        if (!event.dataTransfer.types.includes('Files')) return
        event.preventDefault()
        setOver(true)
      },
      onDragLeave({ currentTarget, relatedTarget }: DragEvent) {
        if (!currentTarget.contains(relatedTarget as Node | null)) setOver(false)
      },
      onDrop(event: DragEvent) {
        if (!event.dataTransfer.types.includes('Files')) return
        event.preventDefault()
        setOver(false)
        if (event.dataTransfer.files.length > 0) onFiles([...event.dataTransfer.files])
      },
    },
  }
}

/** A drop zone for files; its button opens the system's dialog. */
export function FileDrop({ label, accept, isSingle = false, onFiles }: FileDropProps) {
  const t = useText(frameText)
  const input = useRef<HTMLInputElement>(null)
  const take = (files: readonly File[]) => onFiles(files.slice(0, isSingle ? 1 : undefined))
  const { isOver, place } = useFileDrop(take)
  return (
    <section className={`drop${isOver ? ' over' : ''}`} aria-label={label} {...place}>
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
          if (target.files?.length) take([...target.files])
          target.value = ''
        }}
      />
    </section>
  )
}
