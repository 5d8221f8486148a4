/* Script of the console in a browser, besides htmx: passkeys. */
(() => {
  const post = async (path, body) => {
    const token = document.querySelector('[data-passkey]').dataset.formulario;
    const answer = await fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'X-Formulario': token },
      body: new URLSearchParams(body),
    });
    return answer.json();
  };
  const run = async (button) => {
    const said = document.getElementById('passkey-dito');
    said.textContent = 'Siga o que o navegador pede…';
    try {
      const { passkey: kind, opcoes, resposta } = button.dataset;
      const options = await post(opcoes, {});
      const isNew = kind === 'nova';
      const credential = isNew
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
      const nome = isNew ? document.getElementById('campo-nome').value : '';
      const { ir, problema } = await post(resposta, { passkey: JSON.stringify(credential.toJSON()), nome });
      if (ir) location.assign(ir);
      else said.textContent = problema;
    } catch (error) {
      said.textContent =
        error.name === 'NotAllowedError'
          ? 'A passkey não foi usada: o pedido foi cancelado, ou passou do tempo. Tente de novo.'
          : error.name === 'InvalidStateError'
            ? 'Esta chave já está na conta.'
            : `Este navegador não pôde usar a passkey (${error.name}).`;
    }
  };
  for (const button of document.querySelectorAll('[data-passkey]')) {
    button.hidden = !window.PublicKeyCredential?.parseCreationOptionsFromJSON;
    button.addEventListener('click', () => run(button));
  }
})();
