/* The language of the page, for screen readers and for the choice of fonts. `data` is {code}. */
export default function ({ data }) {
  if (data) document.documentElement.lang = data.code === "zh" ? "zh-CN" : data.code;
}
