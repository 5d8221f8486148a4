/** Words by which an official asks, where a page says it otherwise. The search finds a section by them as by its title. */

/** Words by the place of their section: the page, and the section in it. */
export const EVERYDAY_WORDS: Readonly<Record<string, string>> = {
  'painel#quem-entra-e-o-que-pode':
    'esqueci esqueceu perdi minha senha trocar mudar redefinir login acesso usuário novo celular aplicativo código bloqueado colega',
  'painel#o-que-há-em-cada-página':
    'relatório mensal mês quanto arrecadou arrecadação receita ISS total resumo estatística consultar cancelar nota brasão logotipo logomarca cor',
  'planilhas#o-mês-para-o-sistema-tributário':
    'relatório mensal mês quanto arrecadou arrecadação conciliação excel contabilidade lançamento',
  'planilhas#no-console': 'excel baixar exportar relatório notas planilha libreoffice',
  'operacao#trocar-o-certificado': 'certificado vencido vence venceu renovar novo e-CNPJ A1 pfx',
  'operacao#cópia-de-segurança': 'backup restaurar recuperar',
  'operacao#pedir-ajuda': 'suporte socorro problema defeito diagnóstico',
  'danfse#': 'segunda via imprimir nota impressa PDF',
};
