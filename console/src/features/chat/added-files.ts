import { send, upload } from '#console/api/client.ts'
import { queryClient } from '#console/api/query.ts'
import { createStore } from '#console/api/store.ts'
import type { ChatFile } from './requests.ts'
import { addFile, fileKey, removeFile } from './requests.ts'
import { text } from './text.ts'

/** A file of a message that is not sent yet. It goes on its way while other views are open. */
export interface AddedFile {
  id: number
  /** That of the draft which it belongs to. */
  key: string
  name: string
  /** Of its bytes, 0 to 1. */
  share: number
  /** As the service has it; absent on its way, and if it was not taken. */
  stored?: ChatFile
  /** Why it was not taken. */
  error?: string
}

/** Of one message, as the service has it. */
const maxFiles = 10

export const addedFiles = createStore<readonly AddedFile[]>([])
const controllers = new Map<number, AbortController>()
let made = 0

export const isOnItsWay = ({ stored, error }: AddedFile) => stored === undefined && error === undefined

export function addFiles(chat: string, key: string, files: readonly File[]): void {
  for (const file of files) {
    made += 1
    const entry = { id: made, key, name: file.name, share: 0 }
    const taken = addedFiles.get().filter(one => one.key === key && one.error === undefined)
    const isOne = taken.length < maxFiles
    addedFiles.set([
      ...addedFiles.get(),
      isOne ? entry : { ...entry, error: text.current().tooMany(maxFiles) },
    ])
    if (isOne) void sendOne(chat, entry.id, file)
  }
}

async function sendOne(chat: string, id: number, file: File): Promise<void> {
  const change = (values: Partial<AddedFile>) =>
    addedFiles.set(addedFiles.get().map(one => (one.id === id ? { ...one, ...values } : one)))
  const controller = new AbortController()
  controllers.set(id, controller)
  try {
    const stored = await upload(addFile(chat, file), share => change({ share }), controller.signal)
    queryClient.setQueryData(fileKey(chat, stored.id), file.slice(0, file.size, stored.mime_type))
    change({ stored })
  } catch (error) {
    change({ error: error instanceof Error ? error.message : String(error) })
  } finally {
    controllers.delete(id)
  }
}

/** Takes a file back, wherever it is. */
export function takeBack(chat: string, { id, stored }: AddedFile): void {
  controllers.get(id)?.abort()
  addedFiles.set(addedFiles.get().filter(one => one.id !== id))
  // One that stays is removed by the service itself, later.
  if (stored) send(removeFile(chat, stored.id), { isShown: false }).catch(() => {})
}

/** The files that are sent with a message. None is left at its draft, those that were refused neither. */
export function takeFiles(key: string): readonly AddedFile[] {
  const own = addedFiles.get().filter(one => one.key === key)
  addedFiles.set(addedFiles.get().filter(one => one.key !== key))
  return own.filter(({ stored }) => stored !== undefined)
}

export const putBack = (files: readonly AddedFile[]) => addedFiles.set([...files, ...addedFiles.get()])
