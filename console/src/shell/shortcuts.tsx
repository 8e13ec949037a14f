import { useStore } from '#console/api/store.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { language, useText } from '#console/i18n/text.ts'
import { Dialog } from '#console/ui/dialog.tsx'
import { CheckField } from '#console/ui/field.tsx'
import { useAgent } from './agent.tsx'
import { isFor, railViews } from './feature.ts'
import { singleKeys } from './preferences.ts'

/** The list of shortcuts, and the switch for single letters. */
export function Shortcuts({ onClose }: { onClose(): void }) {
  const t = useText(frameText)
  const chosen = useStore(language)
  const isOn = useStore(singleKeys) !== 'off'
  const agent = useAgent()
  const places = railViews.filter(view => view.rail.key !== undefined && isFor(agent, view))
  const rows = [
    { keys: t.keys.search, text: t.shortcutsOf.commands },
    { keys: t.keys.send, text: t.shortcutsOf.run },
    { keys: t.keys.close, text: t.shortcutsOf.close },
    { keys: '?', text: t.shortcutsOf.list },
    ...places.map(({ rail, title }) => ({
      keys: `G ${rail.key?.toUpperCase()}`,
      text: t.shortcutsOf.go(title[chosen]),
    })),
  ]
  return (
    <Dialog title={t.shortcuts} onClose={onClose}>
      <dl className="keys">
        {rows.map(({ keys, text }) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map(key => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <CheckField
        label={t.singleKeys}
        value={isOn}
        onChange={value => singleKeys.set(value ? '' : 'off')}
        isSwitch
      />
    </Dialog>
  )
}
