import { send } from '#console/api/client.ts'
import { invalidate, useChange } from '#console/api/query.ts'
import { addressOf } from '#console/api/request.ts'
import { createStore } from '#console/api/store.ts'
import { useText } from '#console/i18n/text.ts'
import { type Agent, useAgent } from '#console/shell/agent.tsx'
import { Menu } from '#console/ui/menu.tsx'
import { toast, toastError, undoable } from '#console/ui/toast.tsx'
import {
  deleteSource,
  fileNameOf,
  getFile,
  isInWork,
  reindexSource,
  type Source,
  sourcesPath,
} from './requests.ts'
import { text } from './text.ts'

/** Sources that are shown as deleted while the deletion can be undone, regardless of other changes. */
export const removedSources = createStore<ReadonlySet<string>>(new Set())

const again = { file: 'refresh', crawl: 'crawlAgain', database: 'fetchAgain', api: 'fetchAgain' } as const

export function SourceActions({ source, onRemove }: { source: Source; onRemove?(): void }) {
  const t = useText(text)
  const agent = useAgent()
  const { id, type } = source
  const name = source.name.slice(0, 200)
  const reindex = useChange(reindexSource(agent), {
    changes: [sourcesPath(agent)],
    onDone: () => toast(t.refreshed(name)),
  })
  const mayChange = agent.may('change')
  const hasFile = fileNameOf(source) !== undefined
  if (!mayChange && !hasFile) return null
  return (
    <Menu
      button={{ kind: 'quiet', icon: 'more', label: t.actionsOf(name) }}
      items={[
        mayChange &&
          !isInWork(source) && {
            label: t[again[type]],
            icon: 'refresh',
            run: () => reindex.mutate(id, { onError: toastError }),
          },
        // The server sends the file as an attachment under its own name.
        hasFile && {
          label: t.download,
          icon: 'download',
          run: () => location.assign(addressOf(getFile(agent, id))),
        },
        mayChange && {
          label: t.remove,
          icon: 'trash',
          isDangerous: true,
          run() {
            removeLater(agent, id, t.removed(name))
            onRemove?.()
          },
        },
      ]}
    />
  )
}

function removeLater(agent: Agent, id: string, said: string): void {
  const hide = () => removedSources.set(new Set([...removedSources.get(), id]))
  const show = () => removedSources.set(removedSources.get().difference(new Set([id])))
  hide()
  undoable(said, {
    undo: show,
    async send() {
      await send(deleteSource(agent, id))
      await invalidate([sourcesPath(agent)])
      show()
    },
  })
}
