/**
 * The script of the documentation pages, whose content is complete without it. It filters the index of codes, suggests
 * answers during typing, copies sources, and shows one language of several. It contacts this service alone.
 */
const fold = (text) =>
  text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase();

/** An element with its attributes and content. */
const make = (name, attributes, ...inside) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...inside);
  return element;
};

// Screen readers announce each effect.
const status = make('p', { class: 'oculto', role: 'status' });
const say = (text) => {
  status.textContent = text;
};

// The index of codes: the rules of `findMatches` in `../errors/search.ts`, over the content of the page.

const filterCodes = (said) => {
  const foldWord = (text) => fold(text).replace(/oes\b/g, 'ao');
  const box = document.querySelector('main input[name=q]');
  const items = [...document.querySelectorAll('li[data-c]')].map((li) => ({
    li,
    code: li.dataset.c,
    text: `${li.dataset.c} ${foldWord(li.querySelector('span').textContent)} ${li.dataset.b}`,
  }));
  const sections = [...document.querySelectorAll('section[data-g]')];
  const find = (asked) => {
    const words = asked.split(/\s+/).filter(Boolean);
    if (words.length === 1 && /^e?\d{1,4}$/.test(words[0])) {
      const byCode = items.filter(({ code }) => code.includes(words[0]));
      if (byCode.length > 0) return byCode;
    }
    return items.filter(({ text }) => words.every((word) => text.includes(word)));
  };
  const countText = (count) => {
    if (count === 0) return said.dataset.none;
    return count === 1 ? '1 código' : `${count} códigos`;
  };
  box.addEventListener('input', () => {
    const asked = foldWord(box.value).trim();
    const hits = new Set(find(asked));
    for (const item of items) item.li.hidden = !hits.has(item);
    for (const section of sections) section.hidden = section.querySelector('li:not([hidden])') === null;
    document.body.classList.toggle('searching', asked !== '');
    said.textContent = asked === '' ? '' : countText(hits.size);
    history.replaceState(null, '', asked === '' ? location.pathname : `?q=${encodeURIComponent(box.value.trim())}`);
  });
};

// Suggestions under the search of the bar.

const SUGGEST_AFTER_MS = 150;
const SUGGEST_MIN = 2;

const suggest = (form) => {
  const box = form.querySelector('input[name=q]');
  const list = make('ul', { class: 'sugestoes', id: 'sugestoes', role: 'listbox', 'aria-label': 'Sugestões' });
  list.hidden = true;
  form.append(list);
  for (const [name, value] of [
    ['role', 'combobox'],
    ['aria-autocomplete', 'list'],
    ['aria-controls', 'sugestoes'],
    ['aria-expanded', 'false'],
  ]) {
    box.setAttribute(name, value);
  }
  let timer;
  let asking = new AbortController();
  let chosen = -1;
  const choose = (place) => {
    chosen = place;
    for (const [at, option] of [...list.children].entries()) option.setAttribute('aria-selected', String(at === place));
    if (place < 0) box.removeAttribute('aria-activedescendant');
    else {
      box.setAttribute('aria-activedescendant', list.children[place].id);
      list.children[place].scrollIntoView({ block: 'nearest' });
    }
  };
  const show = (isOpen) => {
    list.hidden = !isOpen;
    box.setAttribute('aria-expanded', String(isOpen));
    if (!isOpen) choose(-1);
  };
  const optionOf = ({ titulo, tipo, caminho }, place) => {
    const option = make(
      'li',
      { role: 'option', id: `sugestao-${place}`, 'aria-selected': 'false' },
      titulo,
      ' ',
      make('small', {}, tipo),
    );
    option.dataset.to = new URL(caminho, form.action).href;
    return option;
  };
  const ask = async () => {
    asking.abort();
    asking = new AbortController();
    const asked = box.value.trim();
    if (asked.length < SUGGEST_MIN) return show(false);
    const answer = await fetch(`${form.action}.json?q=${encodeURIComponent(asked)}`, { signal: asking.signal });
    const found = answer.ok ? await answer.json() : [];
    list.replaceChildren(...found.map(optionOf));
    show(found.length > 0);
    say(found.length === 1 ? '1 sugestão' : `${found.length} sugestões`);
  };
  box.addEventListener('input', () => {
    clearTimeout(timer);
    // A query that a later one overtook, or that the service does not answer, suggests nothing.
    timer = setTimeout(() => ask().catch(() => undefined), SUGGEST_AFTER_MS);
  });
  box.addEventListener('keydown', (event) => {
    if (list.hidden) return;
    const count = list.children.length;
    if (event.key === 'ArrowDown') choose((chosen + 1) % count);
    else if (event.key === 'ArrowUp') choose((chosen <= 0 ? count : chosen) - 1);
    else if (event.key === 'Escape') show(false);
    else if (event.key === 'Enter' && chosen >= 0) location.assign(list.children[chosen].dataset.to);
    else return;
    event.preventDefault();
  });
  // The event comes before the box loses the focus, which closes the list.
  list.addEventListener('mousedown', (event) => {
    const option = event.target.closest('[role=option]');
    event.preventDefault();
    if (option !== null) location.assign(option.dataset.to);
  });
  box.addEventListener('blur', () => show(false));
};

// Copying.

const SAID_FOR_MS = 2_000;

const copyText = async (text) => {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  // An address without TLS has only the old clipboard.
  const area = make('textarea', { class: 'oculto' });
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  if (!isDone) throw new Error('the browser does not copy');
};

const addCopyButton = (pre) => {
  const button = make('button', { type: 'button', class: 'copiar' }, 'Copiar');
  const around = make('div', { class: 'fonte' });
  pre.before(around);
  around.append(pre, button);
  button.addEventListener('click', async () => {
    const said = await copyText(pre.textContent).then(
      () => 'Copiado',
      () => 'Não foi possível copiar',
    );
    button.textContent = said;
    say(said);
    setTimeout(() => {
      button.textContent = 'Copiar';
    }, SAID_FOR_MS);
  });
};

// Languages: one of several equivalent sources is shown, and the choice holds on every page.

const REMEMBERED = 'nfse-docs-linguagem';

const remember = (language) => {
  // Storage may be forbidden; then the choice holds for this page.
  try {
    localStorage.setItem(REMEMBERED, language);
  } catch {}
};

const remembered = () => {
  try {
    return localStorage.getItem(REMEMBERED);
  } catch {
    return null;
  }
};

const groups = [];

const showLanguage = (language) => {
  for (const { panels, tabs } of groups) {
    const place = panels.findIndex((panel) => panel.dataset.linguagem === language);
    if (place < 0) continue;
    for (const [at, panel] of panels.entries()) {
      panel.hidden = at !== place;
      tabs[at].setAttribute('aria-selected', String(at === place));
      tabs[at].tabIndex = at === place ? 0 : -1;
    }
  }
};

const addTabs = (group, number) => {
  const panels = [...group.querySelectorAll('.aba')];
  const tabs = panels.map((panel, place) => {
    panel.id = `aba-${number}-${place}-texto`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', `aba-${number}-${place}`);
    return make(
      'button',
      { type: 'button', role: 'tab', id: `aba-${number}-${place}`, 'aria-controls': panel.id },
      panel.dataset.nome,
    );
  });
  const list = make('div', { class: 'linguagens', role: 'tablist', 'aria-label': 'Linguagem' }, ...tabs);
  group.prepend(list);
  group.classList.add('com-abas');
  const choose = (place) => {
    const { linguagem } = panels[place].dataset;
    const before = list.getBoundingClientRect().top;
    showLanguage(linguagem);
    remember(linguagem);
    // Groups above may have grown: the reader's place on the screen is kept.
    scrollBy(0, list.getBoundingClientRect().top - before);
  };
  for (const [place, tab] of tabs.entries()) tab.addEventListener('click', () => choose(place));
  list.addEventListener('keydown', (event) => {
    const at = tabs.indexOf(document.activeElement);
    const to = {
      ArrowRight: (at + 1) % tabs.length,
      ArrowLeft: (at || tabs.length) - 1,
      Home: 0,
      End: tabs.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
    tabs[to].focus();
  });
  groups.push({ panels, tabs });
  showLanguage(panels[0].dataset.linguagem);
};

/** A link to a hidden language selects it, for this visit alone. */
const followHash = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const panel = target?.closest('.aba');
  if (!panel) return;
  showLanguage(panel.dataset.linguagem);
  panel.closest('.abas').scrollIntoView();
};

/** A menu taller than the window scrolls to the current page. */
const showCurrent = (menu) => {
  const current = menu.querySelector('[aria-current]');
  if (current === null || menu.scrollHeight <= menu.clientHeight) return;
  menu.scrollTop += current.getBoundingClientRect().top - menu.getBoundingClientRect().top - menu.clientHeight / 2;
};

document.body.append(status);
const menu = document.querySelector('.menu');
if (menu !== null) showCurrent(menu);
const said = document.getElementById('achados');
if (said !== null) filterCodes(said);
const form = document.querySelector('.bar form.search');
if (form !== null) suggest(form);
for (const pre of document.querySelectorAll('main pre')) addCopyButton(pre);
for (const [number, group] of [...document.querySelectorAll('.abas')].entries()) addTabs(group, number);
if (groups.length > 0) {
  showLanguage(remembered() ?? '');
  followHash();
  addEventListener('hashchange', followHash);
}
