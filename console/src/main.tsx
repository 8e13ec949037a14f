import '@fontsource-variable/inter/wght.css'
import '@fontsource-variable/jetbrains-mono/wght.css'
import './ui/tokens.css'
import './ui/base.css'
import './ui/controls.css'
import './ui/layout.css'
import './ui/lists.css'
import './ui/overlays.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/query.ts'
import { language, loadTexts } from './i18n/text.ts'
import { router } from './shell/router.tsx'

// A file of this build is missing: the server has a newer build.
addEventListener('vite:preloadError', event => {
  event.preventDefault()
  location.reload()
})

document.documentElement.lang = language.get()
await loadTexts()

const root = document.querySelector('#root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
