/**
 * A headless browser that reaches this machine alone. It gives a page as a user sees it, its requests, its complaints, and a picture on
 * demand. The code speaks the browser's own protocol, so no library is needed.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onEnd } from './cleanup.ts';
import { toolOr } from './tools.ts';
import { onPatienceEnd, until } from './until.ts';

const START_WITHIN_MS = 120_000;
const PATIENCE_MS = 120_000;

// biome-ignore lint/suspicious/noExplicitAny: messages are looked at field by field
type Message = any;

export type Page = {
  /** Requested addresses, in order. */
  readonly requests: readonly string[];
  /** Script errors and violations of the page's content security policy. */
  readonly complaints: readonly string[];
  open(url: string): Promise<void>;
  resize(width: number, height: number): Promise<void>;
  dark(isDark: boolean): Promise<void>;
  /** Light, with few colours: those that a reader with weak eyes has chosen. */
  forceColours(): Promise<void>;
  /** The value of an expression in the page; promises are awaited. */
  evaluate<Value = unknown>(expression: string): Promise<Value>;
  /** Waits until the expression is true. */
  until(expression: string): Promise<void>;
  press(key: 'Tab' | 'Enter' | ' '): Promise<void>;
  /** Clicks a link, a button or a checkbox, and waits for the next page if there is one. */
  click(selector: string): Promise<void>;
  /** Fills a field in, and replaces its old content. */
  fill(selector: string, text: string): Promise<void>;
  /** Chooses a file of this machine. */
  choose(selector: string, file: string): Promise<void>;
  /** Whether the page's scripts run; those of the test always do. */
  scripts(areOn: boolean): Promise<void>;
  /** A virtual authenticator that always verifies its user. */
  addAuthenticator(): Promise<void>;
  /** A PNG of what is in the window. */
  picture(file: string): Promise<void>;
};

/** `isStranger`: the page does not share the cookies of the other pages. */
export type Browser = { newPage(isStranger?: boolean): Promise<Page> };

/** Undefined if there is no Chromium, or none that starts. The reason is printed, and the test continues without it. */
export async function openBrowser(): Promise<Browser | undefined> {
  const program = toolOr('chromium', 'chromium fonts-dejavu-core');
  if (program === undefined) return undefined;
  const profile = await mkdtemp(path.join(tmpdir(), 'nfse-browser-'));
  const child = spawn(
    program,
    [
      ...['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-dev-shm-usage'],
      ...[
        '--disable-background-timer-throttling',
        '--disable-renderer-backgrounding',
        '--disable-backgrounding-occluded-windows',
      ],
      // Every other host is unresolvable.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync', '--hide-scrollbars'],
      ...['--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()));
  onEnd(async () => {
    child.kill();
    await ended;
    // The browser's helpers may still write for a moment; their files stay in the temporary folder.
    await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }).catch(() => undefined);
  });
  const place = await debuggerOf(child, ended);
  if ('failed' in place) {
    console.warn(`Chromium does not start here: done without it\n${place.failed}`);
    return undefined;
  }
  const socket = new WebSocket(place.address);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', reject, { once: true });
  });
  onEnd(() => socket.close());
  const answers = new Map<number, (message: Message) => void>();
  const listeners = new Map<string, (message: Message) => void>();
  socket.addEventListener('message', ({ data }) => {
    const message: Message = JSON.parse(String(data));
    if (message.id === undefined) listeners.get(message.sessionId)?.(message);
    else answers.get(message.id)?.(message);
  });
  let last = 0;
  const ask = (method: string, params: object = {}, sessionId?: string): Promise<Message> => {
    last += 1;
    const id = last;
    socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    return new Promise((resolve, reject) => {
      // A page that has crashed does not answer and reports nothing.
      const giveUp = (): void => reject(new Error(`${method}: no answer in ${PATIENCE_MS} ms`));
      const callOff = onPatienceEnd(PATIENCE_MS, giveUp);
      answers.set(id, ({ result, error }) => {
        callOff();
        answers.delete(id);
        if (error === undefined) resolve(result);
        else reject(new Error(`${method}: ${error.message}`));
      });
    });
  };
  return {
    newPage: async (isStranger = false) => {
      const context = isStranger ? await ask('Target.createBrowserContext') : {};
      const { targetId } = await ask('Target.createTarget', { url: 'about:blank', ...context });
      const { sessionId } = await ask('Target.attachToTarget', { targetId, flatten: true });
      return pageOf(
        (method, params) => ask(method, params, sessionId),
        (hear) => listeners.set(sessionId, hear),
      );
    },
  };
}

/** The address of the debugger, or the browser's output if it failed. */
function debuggerOf(
  { stderr }: ChildProcess,
  ended: Promise<void>,
): Promise<{ readonly address: string } | { readonly failed: string }> {
  return new Promise((resolve) => {
    let said = '';
    const giveUp = (): void => resolve({ failed: `nothing in ${START_WITHIN_MS} ms: ${said}` });
    const callOff = onPatienceEnd(START_WITHIN_MS, giveUp);
    void ended.then(() => resolve({ failed: said })).finally(callOff);
    stderr!.setEncoding('utf8').on('data', (chunk) => {
      said = `${said}${chunk}`.slice(-SAID_MAX);
      const [, address] = /DevTools listening on (ws:\S+)\s/.exec(said) ?? [];
      if (address === undefined) return;
      callOff();
      resolve({ address });
    });
  });
}

const SAID_MAX = 10_000;

type Ask = (method: string, params?: object) => Promise<Message>;

async function pageOf(ask: Ask, listen: (hear: (message: Message) => void) => void): Promise<Page> {
  const requests: string[] = [];
  const complaints: string[] = [];
  listen(({ method, params }) => {
    if (method === 'Network.requestWillBeSent') requests.push(params.request.url);
    if (method === 'Runtime.exceptionThrown') complaints.push(String(params.exceptionDetails.exception?.description));
    if (method === 'Log.entryAdded' && params.entry.level === 'error') complaints.push(params.entry.text);
    if (method === 'Audits.issueAdded' && params.issue.code === 'ContentSecurityPolicyIssue') {
      complaints.push(JSON.stringify(params.issue.details.contentSecurityPolicyIssueDetails));
    }
  });
  for (const domain of ['Page', 'Network', 'Runtime', 'Log', 'Audits']) await ask(`${domain}.enable`);
  // Background pages then render like the page in front.
  await ask('Emulation.setFocusEmulationEnabled', { enabled: true });
  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const { result, exceptionDetails } = await ask('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    assert.equal(exceptionDetails, undefined, exceptionDetails?.exception?.description);
    return result.value;
  };
  const untilSo = async (expression: string): Promise<void> => {
    let trouble: unknown;
    // A page that is being replaced by another does not answer.
    const isThere = (): Promise<boolean> =>
      evaluate<boolean>(`Boolean(${expression})`).catch((error: unknown) => {
        trouble = error;
        return false;
      });
    await until(async () => (await isThere()) || undefined, expression).catch((error: Error) => {
      throw new Error(`${error.message} ${trouble ?? ''}`);
    });
  };
  return {
    requests,
    complaints,
    evaluate,
    until: untilSo,
    open: async (url) => {
      await ask('Page.navigate', { url });
      await untilSo(`location.href.startsWith(${JSON.stringify(url)}) && document.readyState === 'complete'`);
    },
    resize: async (width, height) => {
      await ask('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    },
    dark: async (isDark) => {
      const value = isDark ? 'dark' : 'light';
      await ask('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
    },
    forceColours: async () => {
      await ask('Emulation.setEmulatedMedia', { features: [{ name: 'forced-colors', value: 'active' }] });
    },
    press: async (key) => {
      const codes = { Tab: 9, Enter: 13, ' ': 32 } as const;
      const text = key === 'Enter' ? '\r' : key === ' ' ? ' ' : undefined;
      const event = { key, code: key === ' ' ? 'Space' : key, windowsVirtualKeyCode: codes[key] };
      await ask('Input.dispatchKeyEvent', { type: 'keyDown', ...event, ...(text === undefined ? {} : { text }) });
      await ask('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
    },
    click: async (selector) => {
      // A page that answers without the mark is a new page.
      await evaluate(`document.documentElement.dataset.left = 'no'`);
      const leaves = await evaluate<boolean>(`(() => {
        const one = document.querySelector(${JSON.stringify(selector)});
        if (one === null) throw new Error('there is no ' + ${JSON.stringify(selector)});
        const leaves = one.matches('a[href], button:not([type=button]), [type=submit]');
        one.click();
        return leaves;
      })()`);
      if (leaves) await untilSo(`document.documentElement.dataset.left !== 'no' && document.readyState === 'complete'`);
    },
    fill: async (selector, text) => {
      await evaluate(`(() => {
        const one = document.querySelector(${JSON.stringify(selector)});
        if (one === null) throw new Error('there is no ' + ${JSON.stringify(selector)});
        one.value = ${JSON.stringify(text)};
        one.dispatchEvent(new Event('input', { bubbles: true }));
        one.dispatchEvent(new Event('change', { bubbles: true }));
      })()`);
    },
    choose: async (selector, file) => {
      const { root } = await ask('DOM.getDocument');
      const { nodeId } = await ask('DOM.querySelector', { nodeId: root.nodeId, selector });
      await ask('DOM.setFileInputFiles', { nodeId, files: [file] });
    },
    scripts: async (areOn) => {
      await ask('Emulation.setScriptExecutionDisabled', { value: !areOn });
    },
    addAuthenticator: async () => {
      await ask('WebAuthn.enable');
      const kind = { protocol: 'ctap2', transport: 'internal', hasUserVerification: true, isUserVerified: true };
      const options = { ...kind, hasResidentKey: true, automaticPresenceSimulation: true };
      await ask('WebAuthn.addVirtualAuthenticator', { options });
    },
    picture: async (file) => {
      const { data } = await ask('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true });
      await writeFile(file, Buffer.from(data, 'base64'));
    },
  };
}
