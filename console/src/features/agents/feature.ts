import type { Feature } from '#console/shell/feature.ts'
import { defineView } from '#console/shell/view.ts'

export const settingsSearch = { tab: ['model', 'instructions', 'credentials', 'more', 'danger'] } as const
export const agentsSearch = { create: 'number' } as const

const feature: Feature = {
  views: [
    {
      path: 'home',
      title: { en: 'Overview', de: 'Übersicht' },
      needs: 'read',
      load: () => import('./home.tsx'),
      rail: { group: 'talk', order: 0, icon: 'home', key: 'o' },
    },
    defineView({
      path: 'settings',
      search: settingsSearch,
      title: { en: 'Settings', de: 'Einstellungen' },
      needs: 'read',
      load: () => import('./settings/settings.tsx'),
      rail: { group: 'setUp', order: 1, icon: 'gear', key: 's' },
    }),
    defineView({
      path: 'agents',
      search: agentsSearch,
      title: { en: 'Agents', de: 'Agenten' },
      needs: 'any',
      load: () => import('./agents.tsx'),
      rail: { group: 'setUp', order: 0, icon: 'agents', key: 'a' },
    }),
  ],
  commands: [
    {
      id: 'create-agent',
      title: { en: 'Create an agent', de: 'Agenten anlegen' },
      icon: 'plus',
      needs: 'any',
      to: 'agents?create=1',
    },
  ],
}
export default feature
