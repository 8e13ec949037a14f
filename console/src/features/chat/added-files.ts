import { send, upload } from '#console/api/client.ts'
import { queryClient } from '#console/api/query.ts'
import { createStore } from '#console/api/store.ts'
import { addFile, type ChatFile, fileKey, removeFile } from './requests.ts'
import { text } from './text.ts'

/** A file of a message that is not sent yet. Its upload continues while other views are open. */
export interface AddedFile {
  id: number
  /** The key of the draft that the file belongs to. */
  key: string
  name: string
  /** The uploaded share of its bytes, 0 to 1. */
  share: number
  /** The file in the service; absent during the upload, and after a refusal. */
  stored?: ChatFile
  /** The reason of a refusal. */
  error?: string
}

/** Max files of one message, the same as in the service. */
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

/** Removes a file, uploaded or not. */
export function takeBack(chat: string, { id, stored }: AddedFile): void {
  controllers.get(id)?.abort()
  addedFiles.set(addedFiles.get().filter(one => one.id !== id))
  // If this fails, the service itself removes the file later.
  if (stored) send(removeFile(chat, stored.id), { isShown: false }).catch(() => {})
}

/** Takes the files that are sent with a message. None stays at the draft, not even refused ones. */
export function takeFiles(key: string): readonly AddedFile[] {
  const ownFiles = addedFiles.get().filter(one => one.key === key)
  addedFiles.set(addedFiles.get().filter(one => one.key !== key))
  return ownFiles.filter(({ stored }) => stored !== undefined)
}

export const putBack = (files: readonly AddedFile[]) => addedFiles.set([...files, ...addedFiles.get()])
