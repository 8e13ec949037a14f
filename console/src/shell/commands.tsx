import { useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import { useStore } from '#console/api/store.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { language, useText } from '#console/i18n/text.ts'
import { Combobox } from '#console/ui/combobox.tsx'
import { useModal } from '#console/ui/dialog.tsx'
import { Icon } from '#console/ui/icon.tsx'
import { useAgent } from './agent.tsx'
import type { Overlay } from './agent-frame.tsx'
import { features, isFor, railViews } from './feature.ts'

interface CommandsProps {
  onClose(): void
  onOpen(overlay: Overlay): void
}

/** The palette of Ctrl K: every view, and the commands of features. */
export function Commands({ onClose, onOpen }: CommandsProps) {
  const t = useText(frameText)
  const chosen = useStore(language)
  const agent = useAgent()
  const navigate = useNavigate()
  const dialog = useModal(onClose)
  const leaving = useRef(false)
  const places = railViews.map(view => ({ ...view, id: view.path, to: view.path, icon: view.rail.icon }))
  const commands = features.flatMap(feature => feature.commands ?? [])
  const options = [...places, ...commands]
    .filter(one => isFor(agent, one))
    .map(({ id, title, icon, to }) => ({
      id,
      label: title[chosen],
      keywords: title.en,
      row: (
        <>
          <Icon name={icon} /> {title[chosen]}
        </>
      ),
      run: () => void navigate({ href: `${agent.home}/${to}` }),
    }))
  const all = [...options, { id: '?', label: t.shortcuts, run: () => onOpen('shortcuts') }]
  return (
    <dialog ref={dialog} className="dialog commands" aria-label={t.search}>
      <Combobox
        label={t.goTo}
        placeholder={t.goTo}
        options={all}
        onChoose={({ id }) => {
          if (leaving.current) return
          leaving.current = true
          onClose()
          all.find(option => option.id === id)?.run()
        }}
      />
    </dialog>
  )
}
