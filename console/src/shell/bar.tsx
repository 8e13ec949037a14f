import { useLocation, useMatches } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useStore } from '#console/api/store.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { chooseLanguage, type Language, language, languages, useText } from '#console/i18n/text.ts'
import { Button } from '#console/ui/button.tsx'
import { Icon } from '#console/ui/icon.tsx'
import { Menu } from '#console/ui/menu.tsx'
import { useAgent } from './agent.tsx'
import type { Overlay } from './agent-frame.tsx'
import { density, theme } from './preferences.ts'
import { useTitle } from './title.ts'
import type { Title } from './view.ts'

interface BarProps {
  onOpen(overlay: Overlay): void
}

/** The bar with the view's name, the search, and the look of the console. */
export function Bar({ onOpen }: BarProps) {
  const t = useText(frameText)
  return (
    <header className="bar">
      <span className="narrow">
        <Button kind="quiet" icon="menu" label={t.menu} onClick={() => onOpen('rail')} />
      </span>
      <ViewTitle />
      <button
        type="button"
        className="search"
        aria-keyshortcuts="Control+K"
        onClick={() => onOpen('commands')}
      >
        <Icon name="search" />
        <span className="words">{t.search}</span>
        <span className="keys" aria-hidden="true">
          <kbd>{t.keys.search}</kbd>
        </span>
      </button>
      <Appearance onOpen={onOpen} />
    </header>
  )
}

const noTitle: Title = { en: '', de: '' }

/** A navigation would lose the focus, so it moves to the name of the view. */
function ViewTitle() {
  const agent = useAgent()
  const heading = useRef<HTMLHeadingElement>(null)
  const view = useMatches().at(-1)?.staticData.view
  const title = useTitle(view?.title ?? noTitle)
  const { pathname } = useLocation()
  const before = useRef(pathname)
  useEffect(() => {
    document.title = [title, agent.name, 'agentstead'].filter(Boolean).join(' · ')
  }, [title, agent.name])
  useEffect(() => {
    const isFirst = before.current === agent.home || before.current === pathname
    before.current = pathname
    if (!isFirst && !document.activeElement?.closest('main')) heading.current?.focus()
  }, [pathname, agent.home])
  return (
    <h1 ref={heading} tabIndex={-1}>
      {title}
    </h1>
  )
}

function Appearance({ onOpen }: BarProps) {
  const t = useText(frameText)
  const [chosenTheme, chosenDensity, chosenLanguage] = [
    useStore(theme),
    useStore(density),
    useStore(language),
  ]
  const themes = [
    { name: '', label: t.system },
    { name: 'light', label: t.light },
    { name: 'dark', label: t.dark },
  ]
  return (
    <Menu
      button={{ kind: 'quiet', icon: 'appearance', label: t.appearance }}
      items={[
        ...themes.map(({ name, label }) => ({
          label,
          isChecked: chosenTheme === name,
          run: () => theme.set(name),
        })),
        {
          label: t.compact,
          isChecked: chosenDensity === 'compact',
          run: () => density.set(chosenDensity === 'compact' ? '' : 'compact'),
        },
        ...Object.entries(languages).map(([name, label]) => ({
          label,
          isChecked: chosenLanguage === name,
          run: () => void chooseLanguage(name as Language),
        })),
        { label: t.shortcuts, run: () => onOpen('shortcuts') },
      ]}
    />
  )
}
