-- A person in Neovim: opens a file, takes the code action "fix", says yes, and gets the edit.

local function fail(text)
  io.stderr:write(text .. "\n")
  vim.cmd("cq")
end

local function wait(what, ms, condition)
  if not vim.wait(ms, condition, 20) then
    fail("waited in vain for " .. what)
  end
end

vim.cmd("edit " .. vim.env.TEST_FILE)
local buffer = vim.api.nvim_get_current_buf()

-- The stock handler would ask at a prompt, where nobody sits: say yes to the first answer.
local asked = 0
vim.lsp.handlers["window/showMessageRequest"] = function(_, params)
  asked = asked + 1
  return params.actions[1]
end

local id = vim.lsp.start_client({
  name = "sidelight",
  cmd = { vim.env.TEST_PYTHON, "-P", "-m", "sidelight", "lsp" },
  root_dir = vim.fn.fnamemodify(vim.env.TEST_FILE, ":h"),
})
vim.lsp.buf_attach_client(buffer, id)
local client = vim.lsp.get_client_by_id(id)
wait("the server", 20000, function()
  return client.initialized
end)

local params = vim.lsp.util.make_given_range_params({ 1, 0 }, { 1, 3 }, buffer, client.offset_encoding)
params.context = { diagnostics = {} }
local answers = vim.lsp.buf_request_sync(buffer, "textDocument/codeAction", params, 10000)
local action
for _, answer in pairs(answers or {}) do
  for _, one in ipairs(answer.result or {}) do
    if one.title:find("fix") then
      action = one
    end
  end
end
if action == nil then
  fail("there is no code action that fixes: " .. vim.inspect(answers))
end
if action.command == nil then
  local resolved = vim.lsp.buf_request_sync(buffer, "codeAction/resolve", action, 10000)
  action = resolved[id].result
end
local command = type(action.command) == "table" and action.command or action
vim.lsp.buf_request(buffer, "workspace/executeCommand", {
  command = command.command,
  arguments = command.arguments,
}, function() end)

wait("the edit in the buffer", 20000, function()
  return vim.api.nvim_buf_get_lines(buffer, 0, 1, false)[1] == "ONE"
end)
wait("the edit on the disk", 10000, function()
  return vim.fn.readfile(vim.env.TEST_FILE)[1] == "ONE"
end)
if asked ~= 1 then
  fail("the person was asked " .. asked .. " times")
end
vim.cmd("qa!")
